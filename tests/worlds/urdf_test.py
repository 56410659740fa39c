#!/usr/bin/env python3
"""URDFs as people write them: what `tether check` says of their base and their limits."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

TETHER = os.environ["TETHER"]
INERTIAL = """<inertial><mass value="{0}"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>"""
WHEEL = """
<link name="{0}">""" + INERTIAL.format(0.5) + """
  <collision><origin rpy="1.5708 0 0"/><geometry><cylinder radius="0.1" length="0.04"/></geometry></collision></link>
<joint name="{0}" type="continuous"><parent link="base_link"/><child link="{0}"/><origin xyz="0 {1} {2}"/>
  <axis xyz="0 1 0"/><limit effort="3" velocity="20"/></joint>"""
BASE = """<link name="base_link">""" + INERTIAL.format(5) + """
  <collision><origin xyz="0 0 0.1"/><geometry><box size="0.4 0.2 0.1"/></geometry></collision></link>"""
ARM = """
<link name="arm">""" + INERTIAL.format(1) + """
  <collision><origin xyz="0 0 0.5"/><geometry><box size="0.1 0.1 0.3"/></geometry></collision></link>
<joint name="shoulder" type="continuous"><parent link="base_link"/><child link="arm"/><origin xyz="0 0 0.4"/>
  <axis xyz="0 0 1"/><limit effort="40" velocity="0"/></joint>"""
ADVICE = "its base is fixed; `floating: on` lets it move"


class Urdf(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, *parts):
        path = self.folder / name
        path.write_text(f"<robot name='r'>{''.join(parts)}</robot>", encoding="utf-8")
        return str(path)

    def check(self, *arguments):
        done = subprocess.run([TETHER, "check", *arguments], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def car(self, height):
        return self.write("car.urdf", BASE, WHEEL.format("left", 0.15, height), WHEEL.format("right", -0.15, height))

    def test_a_car_that_stands_in_the_floor_is_told_of_its_base(self):
        said = self.check(self.car(0)).stderr
        self.assertIn("car.urdf: " + ADVICE, said)
        self.assertIn("it stands 0.1 m in the floor; `z` raises it", said)

    def test_so_is_one_whose_wheels_hang_in_the_air(self):
        said = self.check(self.car(0.3)).stderr
        self.assertIn(ADVICE, said)
        self.assertNotIn("in the floor", said)

    def test_whoever_has_decided_hears_nothing(self):
        car = self.car(0)
        for decision in "on", "off":
            self.assertEqual(self.check(car, "--set", f"robots.car.floating={decision}").stderr, "")

    def test_an_arm_is_meant_to_stand(self):
        self.assertEqual(self.check(self.write("arm.urdf", BASE, ARM)).stderr, "")

    def test_what_is_no_tree_is_told_with_its_line(self):
        def joint(name, parent, child, kind="fixed"):
            return f'\n<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'
        links = "".join(f'\n<link name="{name}"/>' for name in "abc")
        for joints, said in ((joint("1", "a", "b", "prizmatic"), "5: joint '1' has the type 'prizmatic'; did you mean 'prismatic'?"),
                             (joint("1", "a", "b", "x"), "5: joint '1' has the type 'x'; give revolute"),
                             (joint("1", "a", "c") + joint("2", "b", "c"), "6: link 'c' hangs on two joints, '1' and '2'"),
                             (joint("1", "a", "a"), "2: link 'a' hangs on itself"),
                             (joint("1", "a", "b") + joint("2", "c", "a") + joint("3", "b", "c"), "2: link 'a' hangs on itself")):
            path = self.write("tree.urdf", links, joints)
            done = subprocess.run([TETHER, "check", path], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"{path}:{said}", done.stderr)

    def test_what_cannot_be_mimicked_is_told_with_its_line(self):
        links = "".join(f'\n<link name="{name}"/>' for name in "abcd")
        free = "mimics '{}', which is no other revolute, continuous or prismatic joint of this file; it moves freely"
        for mimic, code, said in (('<mimic joint="3"/>', 0, free.format(3)), ('<mimic joint="2"/>', 0, free.format(2)),
                                  ('<mimic joint="lost"/>', 0, free.format("lost")), ('<mimic/>', 0, free.format("")),
                                  ('<mimic joint="still"/>', 0, free.format("still")),
                                  ('<mimic joint="1" multiplier="two"/>', 1, "give numbers as multiplier and offset")):
            with self.subTest(mimic):
                joints = "".join(f'\n<joint name="{i}" type="{kind}"><parent link="{a}"/><child link="{b}"/>{more}</joint>'
                                 for i, kind, a, b, more in ((1, "continuous", "a", "b", ""), (2, "continuous", "b", "c", mimic),
                                                             ("still", "fixed", "a", "d", ""), ("lost", "continuous", "a", "e", "")))
                path = self.write("mimic.urdf", links, joints)
                done = subprocess.run([TETHER, "check", path], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertRegex(done.stderr, re.escape(f"{path}:7: joint '2'") + ":? " + re.escape(said))

    def test_what_mimics_and_does_not_move_is_left_alone(self):
        """Published files have what was left of a joint that moved before."""
        links = "".join(f'<link name="{name}"/>' for name in "abc")
        joints = ('<joint name="1" type="continuous"><parent link="a"/><child link="b"/></joint>'
                  '<joint name="2" type="fixed"><parent link="b"/><child link="c"/><mimic joint="1"/></joint>')
        self.assertNotIn("mimic", self.check(self.write("still.urdf", links, joints)).stderr.replace("still.urdf", ""))

    def test_limits_are_shown(self):
        self.assertIn("left                     hinge, servo up to 3 N·m; held to 3 N·m, 20 rad/s\n", self.check(self.car(0.3)).stdout)
        self.assertIn("shoulder                 hinge, servo up to 40 N·m; held to 40 N·m\n", self.check(self.write("arm.urdf", BASE, ARM)).stdout)

    def test_a_robots_file_replaces_limits_and_sets_friction(self):
        self.car(0.3)
        robot = self.folder / "robot.yaml"
        robot.write_text("model: car.urdf\nfloating: on\njoints: [{name: left, max_torque: 5 N·m, max_velocity: 120 rpm}]\n"
                         "bodies: [{name: left, friction: 0.2, rolling_friction: 2 mm}]\n", encoding="utf-8")
        (self.folder / "scene.yaml").write_text("robots: [{robot: ./robot.yaml, name: car}]\n", encoding="utf-8")
        done = self.check(str(self.folder / "scene.yaml"))
        self.assertIn("left                     hinge, servo up to 5 N·m; held to 5 N·m, 12.57 rad/s\n", done.stdout)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
