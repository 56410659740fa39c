#!/usr/bin/env python3
"""Learns task `reach` with the cross-entropy method: no learning library, only NumPy.

usage: learn_reach.py [GENERATIONS]      default: 25, less than a minute
A policy is a matrix: angles and the way to the goal → speeds. Each generation tries 32 of them, and the next is drawn around the best.
"""
import sys

import numpy as np

import tether.gym

POLICIES, GOALS, BEST = 32, 2, 8
SEEN = [0, 1, 2, 7, 8, 9]  # of the observation: base, middle, wrist; outward, left, up


def episode(envs, policies, seeds):
    """What the policy of each environment earns in one episode, and whether it reaches the goal."""
    observations, _ = envs.reset(seed=seeds)
    earned, reached, running = np.zeros(envs.num_envs), np.zeros(envs.num_envs, bool), np.ones(envs.num_envs, bool)
    while running.any():
        inputs = np.concatenate([observations[:, SEEN], np.ones((envs.num_envs, 1))], axis=1)
        actions = np.clip(np.einsum("eai,ei->ea", policies, inputs), -1, 1)
        observations, rewards, terminations, truncations, _ = envs.step(actions)
        earned += rewards * running
        reached |= terminations & running
        running &= ~(terminations | truncations)
    return earned, reached


def main():
    envs = tether.gym.make_vec("reach", num_envs=POLICIES * GOALS, max_episode_steps=60)
    rng = np.random.default_rng(0)
    mean, spread = np.zeros((4, len(SEEN) + 1)), np.ones((4, len(SEEN) + 1))
    for generation in range(int(sys.argv[1]) if len(sys.argv) > 1 else 25):
        policies = mean + spread * rng.standard_normal((POLICIES, *mean.shape))
        seeds = [generation * GOALS + i for i in range(GOALS)] * POLICIES  # the same goals for every policy
        earned, reached = episode(envs, policies.repeat(GOALS, axis=0), seeds)
        best = policies[np.argsort(earned.reshape(POLICIES, GOALS).mean(axis=1))[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.3 * 0.87**generation
        print(f"generation {generation:2}: mean reward {earned.mean():5.2f}, {reached.mean():4.0%} reached", flush=True)
    earned, reached = episode(envs, np.broadcast_to(mean, (envs.num_envs, *mean.shape)), 1000)
    print(f"learned: mean reward {earned.mean():.2f}, {reached.mean():.0%} of new goals reached")
    envs.close()


if __name__ == "__main__":
    main()
