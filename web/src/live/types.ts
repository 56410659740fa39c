// types.ts: the messages of docs/web.md, protocol version 1.
import type {Role} from '../role';

export const PROTOCOL = 1;

export type Vector = [number, number, number];
export type Quaternion = [number, number, number, number];

export interface Hello {
  protocol: number;
  version: string;
  scene: string;
  description: string;
  timestep: number;
  tick: number;
  pace: 'realtime' | 'lockstep' | 'fast';
  dynamics: boolean;
  token: string;
  /** What whoever looks at the page may do. */
  role: Role;
  /** Id of the run that is kept of this world; "": none is. */
  recording: string;
  /** A kept run that is shown in place of a world that computes itself. */
  replay: {run: string; duration: number} | null;
  /** What was chosen, and could not be opened, so that this one began anew. */
  refused?: {scene: string; reason: string} | null;
}

export interface Body {
  name: string;
  parent: number;
  robot: number;
  piece: number;
}

export interface Joint {
  name: string;
  kind: 'hinge' | 'slide' | 'ball' | 'free';
  body: number;
  robot: number;
  lower: number | null;
  upper: number | null;
}

export interface Robot {
  name: string;
  alliance: string;
  root: number;
}

export interface SignalInfo {
  name: string;
  unit: string;
  robot: number;
  command: boolean;
}

export interface CommandInfo {
  name: string;
  unit: string;
  robot: number;
  lower: number;
  upper: number;
}

export type ShapeKind =
  | 'plane' | 'sphere' | 'capsule' | 'ellipsoid' | 'cylinder' | 'box' | 'mesh' | 'heightfield';

export interface Shape {
  kind: ShapeKind;
  body: number;
  size: Vector;
  position: Vector;
  rotation: Quaternion;
  rgba: Quaternion;
  mesh: number;
  material?: number; // a phantom's shapes have colours only
  name: string;
  decoration: boolean;
  hidden?: boolean;
}

export interface Material {
  name: string;
  texture: number;
  repeat: [number, number];
  uniform: boolean;
  specular: number;
  shininess: number;
  emission: number;
}

export interface TextureInfo {
  cube: boolean;
  width: number;
  height: number;
}

export interface PaintedLine {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  width: number;
  darkness: number;
  black: boolean;
}

export interface Ray {
  name: string;
  body: number;
  position: Vector;
  direction: Vector;
  signal: number;
}

/** Where a driver stands, and where he looks: arena frame, m and rad. */
export interface DriverPlace {
  place: StationPlace;
  x: number;
  y: number;
  heading: number;
}

export interface Model {
  /** False: commands place things, and nothing turns a wheel. Programs before did not say. */
  dynamics?: boolean;
  bodies: Body[];
  joints: Joint[];
  robots: Robot[];
  signals: SignalInfo[];
  commands: CommandInfo[];
  shapes: Shape[];
  materials: Material[];
  textures: TextureInfo[];
  meshes: number;
  lines: PaintedLine[];
  rays: Ray[];
  /** Of the arena's file; those of a program before 1.1 are missing. */
  stations?: DriverPlace[];
}

export interface Field {
  name: string;
  value: string;
  unit: string;
  offset: number; // bytes
  size: number;
  wrong: boolean;
}

export interface BadMessage {
  peer: string;
  text: string;
  size: number; // of the message; hex may be its beginning only
  hex: string;
  fields: Field[];
}

export type WireState = 'waiting' | 'driving' | 'late' | 'silent';

export interface WireStatus {
  name: string;
  protocol: string;
  robot: number;
  address: string;
  state: WireState;
  peer: string | null;
  received: number;
  accepted: number;
  sent: number;
  sendFailed: number;
  late: number;
  repeated: number;
  watchdogTrips: number;
  dropped: Record<string, number>;
  bad: BadMessage | null;
  roundTrip: {last: number; min: number; mean: number; max: number} | null;
}

export type RobotMode = 'autonomous' | 'teleop' | 'test';
export type StationPlace = 'red1' | 'red2' | 'red3' | 'blue1' | 'blue2' | 'blue3';
export type StationAction = 'enable' | 'disable' | 'mode' | 'estop' | 'release' | 'place' | 'data' | 'match' | 'end';
export type MatchPeriod = 'none' | 'autonomous' | 'pause' | 'teleop' | 'over';

/** What a robot's driver station tells it. */
export interface StationStatus {
  enabled: boolean;
  estop: boolean;
  mode: RobotMode;
  place: StationPlace;
  matchTime: number; // s left of the period, −1 without a match
  data: string;
  sticks: number[];
}

export interface Status {
  time: number;
  step: number;
  factor: number;
  speed: number;
  paused: boolean;
  stopped: boolean;
  lateTicks: number;
  wires: WireStatus[];
  match: MatchPeriod;
  stations: StationStatus[];
  framesDropped: number;
  pages: number;
}

export interface WorldEvent {
  step: number;
  source: string;
  text: string;
}

export interface WireMessage {
  wire: number;
  incoming: boolean;
  step: number;
  size: number;
  hex: string;
  fields: Field[];
}

export interface Phantom {
  id: number;
  run: string;
  name: string;
  shapes: Shape[];
  bodies: Body[];
}

export type ServerMessage =
  | ({type: 'hello'} & Hello)
  | ({type: 'model'} & Model)
  | ({type: 'status'} & Status)
  | ({type: 'event'} & WorldEvent)
  | ({type: 'message'} & WireMessage)
  | {type: 'joystick'; connected: boolean}
  | {type: 'phantoms'; phantoms: Phantom[]}
  | {type: 'error'; text: string};

export type ControlAction = 'pause' | 'resume' | 'step' | 'speed' | 'reset' | 'stop' | 'release' | 'seek';

export interface JoystickControls {
  axes: [number, number, number, number];
  dpad: [number, number, number, number];
  buttons: [number, number, number, number];
  back: number;
  select: number;
  start: number;
}

export type PageMessage =
  | {type: 'ack'; sequence: number}
  | {type: 'subscribe'; number: number; signals: number[]; rate: number}
  | {type: 'contacts'; on: boolean}
  | {type: 'control'; action: ControlAction; value?: number; robot?: number}
  | {type: 'command'; values: [number, number][]; epoch?: number}
  | {type: 'monitor'; wire: number}
  | ({type: 'joystick'; core: string; port: number} & JoystickControls)
  | {type: 'joystick'; core: null}
  | {type: 'station'; action: StationAction; robot: number; value?: string}
  | {type: 'stick'; robot: number; stick: number; axes: number[]; buttons: number[]; povs: number[]}
  | {type: 'phantom'; add?: string; remove?: number}
  | {type: 'trial'; action: 'start'; why: string; driver: string}
  | {type: 'trial'; action: 'stop'; why: string; driver: string; time: number}
  | {type: 'trial'; action: 'void'; why: string};
