import numpy as np


def np_random(seed=None):
    """(generator, seed) as documented: PCG64 of a SeedSequence; a seed is a whole number from 0."""
    if seed is not None and not (isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0):
        raise ValueError(f"seed {seed!r} is not a whole number from 0")
    sequence = np.random.SeedSequence(seed)
    return np.random.Generator(np.random.PCG64(sequence)), sequence.entropy
