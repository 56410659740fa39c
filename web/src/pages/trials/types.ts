// types.ts: trials over HTTP: docs/web.md.

export interface Trial {
  id: number;
  started: string;
  scene: string;
  driver: string;
  time: number; // s simulated, from start to stop
  startedBy: 'hand' | 'motion';
  stoppedBy: 'hand' | 'condition';
  condition: string;
  note: string;
  discarded: boolean;
}

export interface Scene {
  name: string;
  description: string;
  current: boolean;
  refused: string | null; // why it could not be opened when it was chosen last
}
