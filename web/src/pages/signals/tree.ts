// tree.ts: names of signals as a tree: robots first, each with its speed and heading, then the world, game pieces, what else
// moves, and last, for who searches, what can't.
import {matches} from '../../format';
import type {Model, SignalInfo} from '../../live/types';

export interface Node {
  path: string; // unique in the tree
  label: string;
  name: string; // of the signal, or a formula; "" of a branch
  unit: string;
  /** Stands here besides its own place, because it is what people look for. */
  shortcut: boolean;
  /** Unfolded until somebody folds it. */
  opened: boolean;
  /** Found by a search only. */
  hidden: boolean;
  children: Node[];
}

/** What the tree is made of. */
export type TreeModel = Pick<Model, 'signals' | 'robots' | 'bodies' | 'joints'>;

const COMMANDS = 'command:';
const OF_BODIES = new Set(['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz', 'heading', 'yaw_rate', 'vx', 'vy', 'vz', 'wx', 'wy', 'wz']);

/** Whether a joint lets it, or what it hangs on, move. Bodies stand behind their parents. */
function movableBodies({bodies, joints}: TreeModel): boolean[] {
  const jointed = new Set(joints.map(({body}) => body));
  const movable: boolean[] = [];
  bodies.forEach(({parent}, i) => movable.push(jointed.has(i) || (parent < i && (movable[parent] ?? false))));
  return movable;
}

/** The name before its last dot, and what stands behind it. */
function cut(name: string): [string, string] {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? [name.slice(0, dot), name.slice(dot + 1)] : ['', name];
}

export function fixedBodies(model: TreeModel): Set<string> {
  const movable = movableBodies(model);
  return new Set(model.bodies.flatMap(({name}, i) => (movable[i] ? [] : [name])));
}

/** The name of a robot's part without the robot's own, which may stand before '/'. */
function withoutRobot(name: string, robot: string): string {
  return robot && name.startsWith(`${robot}/`) ? name.slice(robot.length + 1) : name;
}

const FIXED = 'bodies that cannot move';

interface Bodies {
  fixed: ReadonlySet<string>;
  pieces: ReadonlySet<string>;
}

/** Branches from the root to the leaf. */
function stepsOf(info: SignalInfo, model: TreeModel, bodies: Bodies): string[] {
  const [body, what] = cut(info.name);
  if (bodies.fixed.has(body) && OF_BODIES.has(what)) return [FIXED, body, what];
  const plain = info.command && info.name.startsWith(COMMANDS) ? info.name.slice(COMMANDS.length) : info.name;
  if (!model.bodies.length) return plain.includes('/') ? plain.split('/') : ['log', plain]; // another program's
  const robot = model.robots[info.robot]?.name ?? '';
  const rest = withoutRobot(plain, robot);
  // The last word is the leaf; what stands before it is one branch: "left_wheel.position.x" → left_wheel, position.x
  const dot = rest.indexOf('.');
  const parts = dot > 0 ? [rest.slice(0, dot), rest.slice(dot + 1)] : [rest];
  const commands = info.command ? ['commands'] : [];
  if (robot) return [robot, ...commands, ...parts];
  if (parts.length === 1 || info.command) return ['world', ...commands, ...parts];
  return bodies.pieces.has(parts[0]!) ? ['game pieces', ...parts] : parts;
}

class Builder {
  readonly root: Node = {path: '', label: '', name: '', unit: '', shortcut: false, opened: false, hidden: false, children: []};
  private readonly index = new Map<string, Node>([['', this.root]]);

  branch(parent: Node, label: string): Node {
    const path = `${parent.path}/${label}`;
    let node = this.index.get(path);
    if (!node) {
      node = {path, label, name: '', unit: '', shortcut: false, opened: false, hidden: false, children: []};
      this.index.set(path, node);
      parent.children.push(node);
    }
    return node;
  }

  leaf(parent: Node, label: string, name: string, unit: string, shortcut = false): void {
    parent.children.push({path: `${parent.path}/${label}=${shortcut ? '!' : ''}`, label, name, unit, shortcut, opened: false, hidden: false, children: []});
  }
}

/** What anybody asks of a robot first: how fast it goes over the floor, and where to. */
function addShortcuts(builder: Builder, model: TreeModel, fixed: ReadonlySet<string>): void {
  const units = new Map(model.signals.map(({name, unit}) => [name, unit]));
  for (const {name: robot, root} of model.robots) {
    const node = builder.branch(builder.root, robot);
    node.opened = true;
    const base = model.bodies[root]?.name ?? '';
    if (fixed.has(base)) continue;
    const [vx, vy, heading] = [`${base}.vx`, `${base}.vy`, `${base}.heading`];
    const label = model.robots.length > 1 ? `${robot} speed` : 'speed';
    if (units.has(vx) && units.has(vy)) builder.leaf(node, 'speed', `${label} = hypot(${vx}, ${vy})`, units.get(vx)!, true);
    if (units.has(heading)) builder.leaf(node, 'heading', heading, units.get(heading)!, true);
  }
}

export function buildTree(model: TreeModel): Node[] {
  const builder = new Builder();
  const fixed = fixedBodies(model);
  addShortcuts(builder, model, fixed);
  builder.branch(builder.root, 'world');
  const pieces = new Set(model.bodies.flatMap(({name, piece}) => (piece > 0 ? [name] : [])));
  for (const info of model.signals) {
    const steps = stepsOf(info, model, {fixed, pieces});
    const parent = steps.slice(0, -1).reduce((node, label) => builder.branch(node, label), builder.root);
    builder.leaf(parent, steps[steps.length - 1]!, info.name, info.unit);
  }
  const found = builder.root.children.filter(({children}) => children.length);
  const hidden = found.filter(({label}) => label === FIXED);
  hidden.forEach((node) => (node.hidden = true));
  return [...found.filter((node) => !node.hidden), ...hidden];
}

export interface Row extends Node {
  depth: number;
  open: boolean;
}

/** The rows to be seen: what is open, or while searching every match with its branches, at most `most`. `toggled` are the paths
 *  that somebody folded or unfolded. */
export function visibleRows(nodes: Node[], toggled: ReadonlySet<string>, search: string, most: number): Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: Row[] = [];
  const visit = (node: Node, depth: number): boolean => {
    if (rows.length >= most || (node.hidden && !words.length)) return false;
    if (!node.children.length) {
      const found = !words.length || matches(node.name, words);
      if (found) rows.push({...node, depth, open: false});
      return found;
    }
    const isOpen = words.length > 0 || node.opened !== toggled.has(node.path);
    const at = rows.push({...node, depth, open: isOpen}) - 1;
    let any = !words.length;
    if (isOpen) for (const child of node.children) any = visit(child, depth + 1) || any;
    if (!any) rows.splice(at);
    return any;
  };
  nodes.forEach((node) => visit(node, 0));
  return rows;
}
