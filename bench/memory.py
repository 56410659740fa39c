"""Resident memory of many simulations of one scene in one process, through the library."""
import json

from measure import BUILD, ROOT, Row, progress, run

COUNT = 64
MOST = {"gripper": 4, "frc2011": 12}  # MiB each


def sims():
    """The greatest of what each takes after stepping, saving and reset, and restoring."""
    rows = []
    for scene, most in MOST.items():
        progress(f"memory/sims-{scene}")
        sizes = json.loads(run(BUILD / "sims_memory", ROOT, scene, COUNT, timeout=600))
        stages = [sizes[stage] for stage in ("made_mib", "stepped_mib", "reset_mib", "restored_mib", "again_mib")]
        rows.append(Row(f"memory/sims-{scene}", f"{scene}: resident memory of each of {COUNT} simulations beside the first",
                        max(stages), "MiB", goal=most, less=True, note=f"the first, with all it needs: {sizes['first_mib']:.0f} MiB"))
    return rows
