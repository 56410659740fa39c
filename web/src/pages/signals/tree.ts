// tree.ts: names of signals as a tree: robots before '/', then parts before '.'; commands in a branch of their own.
import type {SignalInfo} from '../../live/types';

export interface Node {
  path: string; // unique in the tree
  label: string;
  name: string; // of the signal; "" of a branch
  unit: string;
  children: Node[];
}

const COMMANDS = 'command:';

/** Numbers without a dimension have the unit 1, which nobody writes. */
export function shownUnit(unit: string): string {
  return unit === '1' ? '' : unit;
}

function stepsOf(info: SignalInfo): string[] {
  const command = info.name.startsWith(COMMANDS);
  const name = command ? info.name.slice(COMMANDS.length) : info.name;
  const slash = name.indexOf('/');
  const robot = slash >= 0 ? [name.slice(0, slash)] : [];
  const rest = name.slice(slash + 1);
  // The last word is the leaf; what stands before it is one branch: "left_wheel.position.x" → left_wheel, position.x
  const dot = rest.indexOf('.');
  const steps = dot > 0 ? [rest.slice(0, dot), rest.slice(dot + 1)] : [rest];
  return [...robot, ...(command ? ['commands'] : []), ...(steps.length === 1 && !command && !robot.length ? ['world', ...steps] : steps)];
}

export function buildTree(signals: SignalInfo[]): Node[] {
  const root: Node = {path: '', label: '', name: '', unit: '', children: []};
  const index = new Map<string, Node>([['', root]]);
  for (const info of signals) {
    let parent = root;
    const steps = stepsOf(info);
    steps.forEach((label, depth) => {
      const leaf = depth === steps.length - 1;
      const path = `${parent.path}/${label}${leaf ? '=' : ''}`;
      let node = index.get(path);
      if (!node) {
        node = {path, label, name: leaf ? info.name : '', unit: leaf ? shownUnit(info.unit) : '', children: []};
        index.set(path, node);
        parent.children.push(node);
      }
      parent = node;
    });
  }
  return root.children;
}

export interface Row extends Node {
  depth: number;
  open: boolean;
}

/** Every word must occur in the name. */
export function matches(name: string, words: string[]): boolean {
  const low = name.toLowerCase();
  return words.every((word) => low.includes(word));
}

/** The rows to be seen: what is open, or while searching every match with its branches, at most `most`. */
export function visibleRows(nodes: Node[], open: ReadonlySet<string>, search: string, most: number): Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: Row[] = [];
  const visit = (node: Node, depth: number): boolean => {
    if (rows.length >= most) return false;
    if (!node.children.length) {
      const found = !words.length || matches(node.name, words);
      if (found) rows.push({...node, depth, open: false});
      return found;
    }
    const isOpen = words.length > 0 || open.has(node.path);
    const at = rows.push({...node, depth, open: isOpen}) - 1;
    let any = !words.length;
    if (isOpen) for (const child of node.children) any = visit(child, depth + 1) || any;
    if (!any) rows.splice(at);
    return any;
  };
  nodes.forEach((node) => visit(node, 0));
  return rows;
}
