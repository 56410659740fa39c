"""What tests of the package share: the package of this source tree over the library of this build."""
import os
import pathlib
import sys

ROOT = pathlib.Path(os.environ.get("TETHER_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("TETHER", ROOT / "build/tether")).parent
LIBRARY = BUILD / "libtether.so.0"
os.environ["TETHER_LIBRARY"] = str(LIBRARY)
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests")]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}  # of other interpreters
