"""What C headers declare, and whether it is said what that is."""
import re


def declarations(text):
    """(line, first line of the declaration, said) of each declaration of a header. It is said what something is by a comment
    above it, or above the first of its group, which a blank line ends, or by comments on its members."""
    lines = text.split("\n")
    said, at = False, 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("/*"):
            while "*/" not in lines[at]:
                at += 1
            said = True
        elif line.startswith("#"):
            while lines[at].endswith("\\"):
                at += 1
        elif not line:
            said = False
        elif not line.startswith(('extern "C"', "}")):
            first, depth, ended = at, 0, False
            while not ended:
                code = re.sub(r"/\*.*?\*/", "", lines[at])
                depth += code.count("{") - code.count("}")
                ended = depth == 0 and (";" in code or code.rstrip().endswith("}"))
                at += 1
            at -= 1
            whole = "\n".join(lines[first:at + 1])
            if not re.fullmatch(r"(typedef )?struct \w+( \w+)?;", whole.strip()):
                yield first + 1, lines[first].strip(), said or "/**<" in whole
        at += 1


def functions(text):
    """The arguments of every function that a header declares, by its name."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return {name: " ".join(arguments.split())
            for name, arguments in re.findall(r"\b(tt_\w+)\(([^;{]*?)\)\s*(?:__attribute__[^;]*)?;", code)}
