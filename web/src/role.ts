// role.ts: what the token of whoever looks at these pages allows; where no token is asked for, everything.
import {computed, signal} from '@preact/signals';

export const ROLES = ['watch', 'drive', 'administer'] as const;
export type Role = (typeof ROLES)[number];

/** Told by the program; until then nothing is hidden, and what is not allowed is refused there. */
export const role = signal<Role>('administer');
const level = computed(() => ROLES.indexOf(role.value));

export function may(needs: Role): boolean {
  return level.value >= ROLES.indexOf(needs);
}

/** Why something is disabled. */
export function lacks(needs: Role): string {
  return `This needs a token of the role ${needs}; yours may ${role.value}.`;
}
