#!/usr/bin/env python3
"""Models that went wrong, by the dice: MJCF and URDF with values, elements and bytes changed. Each is either refused with its file and a
reason, or taken, and then stepped; nothing hangs, nothing ends by a signal, and nothing is left behind."""
import copy
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).parent
from support.process import TETHER

TESTDATA = HERE.parents[1] / "src/engine/mujoco/testdata"
LONG = os.environ.get("TETHER_LONG") == "1"
COUNT = 150 if LONG else 6  # of each model
URDF = """<robot name="r"><link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial><collision><origin xyz="0 0 1" rpy="0 0 1"/><geometry><box size="1 1 1"/></geometry></collision></link>
<link name="arm"><visual><geometry><cylinder radius="0.1" length="1"/></geometry></visual><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="base"/>
<child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="2"/><dynamics damping="1"/></joint></robot>"""
MODELS = {name: (TESTDATA / name).read_text(encoding="utf-8") for name in ("cart.xml", "arm.xml", "looks.xml")} | {"urdf": URDF}
NUMBERS = ["nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "0", "-1", "1e10", "99999999999999999999", "2147483647", "-0.5", "a", ""]
TEXTS = ["", " ", "1 " * 300, "../../../../etc/passwd", "/dev/zero", "file:///etc/passwd", "%s%n", "x" * 70000, "free", "ball", "mesh",
         "hfield", "plane", "world", "true", "RK4", "local", "\u00e9", "a/b", "-", "ellipsoid", "revolute", "floating"]
ELEMENTS = [ElementTree.fromstring(text) for text in (
    "<include file='model.xml'/>", "<include file='/etc/passwd'/>", "<freejoint/>", "<joint type='ball'/>", "<worldbody/>",
    "<option timestep='1e9' integrator='RK4'/>", "<compiler meshdir='/' angle='radian'/>", "<size njmax='2000000000'/>",
    "<size nstack='2000000000' nconmax='2000000000'/>", "<size nuserdata='2147483647'/>", "<geom type='mesh' mesh='m'/>",
    "<custom><numeric name='n' size='2000000000'/></custom>", "<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0'/></asset>",
    "<asset><texture name='t' builtin='flat' type='2d' width='30000' height='30000'/></asset>",
    "<asset><hfield name='h' nrow='20000' ncol='20000' size='1 1 1 1'/></asset>", "<body><freejoint/><freejoint/></body>",
    "<equality><weld body1='world' body2='world'/></equality>", "<composite type='grid' count='9999 9999 1'/>",
    "<composite type='rope' count='50 1 1' spacing='0'/>", "<contact><exclude body1='world' body2='world'/></contact>")]


class Mutator:
    """Seeded: the same number makes the same model of the same text."""

    def __init__(self, seed):
        self.dice = random.Random(seed)

    def value(self, tree):
        """An attribute of another value, or one of its numbers."""
        element = self.dice.choice([e for e in tree.iter() if e.attrib] or [tree])
        if not element.attrib:
            return
        key = self.dice.choice(sorted(element.attrib))
        words = element.get(key).split()
        if words and self.dice.random() < 0.7:
            words[self.dice.randrange(len(words))] = self.dice.choice(NUMBERS)
            element.set(key, " ".join(words))
        else:
            element.set(key, self.dice.choice(TEXTS))

    def without(self, tree):
        """An element or an attribute less."""
        element = self.dice.choice(list(tree.iter()))
        if len(element) and self.dice.random() < 0.5:
            del element[self.dice.randrange(len(element))]
        elif element.attrib:
            del element.attrib[self.dice.choice(sorted(element.attrib))]

    def again(self, tree):
        """A neighbour's like, once more; or a hundred of it."""
        parent = self.dice.choice([e for e in tree.iter() if len(e)] or [tree])
        if not len(parent):
            return
        twin = copy.deepcopy(parent[self.dice.randrange(len(parent))])
        if len(list(twin.iter())) > 20:
            return
        parent.extend(copy.deepcopy(twin) for _ in range(self.dice.choice((1, 1, 2, 100))))

    def more(self, tree):
        """Something hostile, where it may well belong."""
        new = copy.deepcopy(self.dice.choice(ELEMENTS))
        bodies = [e for e in tree.iter() if e.tag in ("body", "worldbody", "link")]
        (tree if self.dice.random() < 0.5 or not bodies else self.dice.choice(bodies)).append(new)

    def characters(self, text):
        """Cut anywhere, or a few characters that are others."""
        if self.dice.random() < 0.3:
            return text[:self.dice.randrange(len(text))]
        changed = list(text)
        for _ in range(self.dice.randrange(1, 6)):
            changed[self.dice.randrange(len(changed))] = chr(self.dice.randrange(256))
        return "".join(changed)

    def mutate(self, text):
        tree = ElementTree.fromstring(text)
        for _ in range(self.dice.choice((1, 1, 2, 4))):
            self.dice.choice((self.value, self.value, self.value, self.without, self.again, self.more))(tree)
        text = ElementTree.tostring(tree, encoding="unicode")
        return self.characters(text) if self.dice.random() < 0.15 else text


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "scratch").mkdir()
        (self.folder / "scene.yaml").write_text("timestep: 1/1000 s\nrobots:\n  - {robot: model.xml, name: a}\nrecord: {on: off}\n", encoding="ascii")

    def tether(self, what, *arguments):
        """(exit status, what it said)"""
        try:
            done = subprocess.run([TETHER, *arguments], cwd=self.folder, capture_output=True, timeout=100, check=False,
                                  stdin=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(self.folder / "scratch")})
        except subprocess.TimeoutExpired:
            self.fail(f"{what}: hangs")
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        self.assertNotIn("root:", said, what)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["model.xml", "scene.yaml", "scratch"], what)
        self.assertEqual(list((self.folder / "scratch").iterdir()), [], what)
        return done.returncode, said

    def takes(self, text, what):
        """Whether it is taken; then it is stepped, too."""
        (self.folder / "model.xml").write_text(text, encoding="utf-8", errors="replace")
        status, said = self.tether(what, "check", "scene.yaml")
        self.assertIn(status, (0, 1), f"{what}: {said}")
        if status:
            self.assertRegex(said, r"(model\.xml|scene\.yaml|composed): .*\S", what)
            return False
        status, said = self.tether(what, "run", "scene.yaml", "--no-web", "--pace", "fast", "--duration", "0.02")
        self.assertIn(status, (0, 1, 3), f"{what}: {said}")
        return True

    def test_what_the_dice_make_of_models(self):
        taken = 0
        for name, text in MODELS.items():
            self.assertTrue(self.takes(text, name))
            for seed in range(COUNT):
                taken += self.takes(Mutator(seed).mutate(text), f"{name}, seed {seed}")
        total = COUNT * len(MODELS)
        self.assertGreater(taken, total // 50)  # not all are nonsense,
        self.assertGreater(total - taken, total // 10)  # and they do go wrong
        print(f"{taken} of {total} models taken and stepped, the others refused", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
