// codec.ts: the binary messages of the stream. A message that doesn't fit its own counts is refused whole.

export interface Contact {
  position: Float32Array; // 3
  force: Float32Array; // 3, on body 2
  body1: number;
  body2: number;
}

export interface PhantomPose {
  id: number;
  gapTime: number;
  gapDistance: number;
  poses: Float32Array; // 7 a body
}

export interface Frame {
  sequence: number;
  time: number;
  epoch: number;
  poses: Float32Array; // x y z, w x y z of each body
  contacts: Contact[] | null; // null: not asked for
  phantoms: PhantomPose[];
}

/** Samples of a subscription, row by row: time, then a value of each signal. */
export interface Samples {
  number: number;
  width: number; // signals
  count: number;
  lost: number;
  rows: Float64Array; // count × (1 + width)
}

export const POSES = 1;
export const SIGNALS = 2;
const POSE_HEADER = 24;
const SIGNAL_HEADER = 16;

/** Floats at any offset: a typed array needs an aligned one, so bytes are copied. */
function floats(buffer: ArrayBuffer, offset: number, count: number): Float32Array {
  return new Float32Array(buffer.slice(offset, offset + 4 * count));
}

function fits(buffer: ArrayBuffer, end: number): void {
  if (end > buffer.byteLength) throw new RangeError(`message of ${buffer.byteLength} bytes ends before byte ${end}`);
}

function decodeContacts(buffer: ArrayBuffer, view: DataView, offset: number, count: number): Contact[] {
  const contacts: Contact[] = [];
  for (let i = 0; i < count; i++, offset += 28) {
    contacts.push({
      position: floats(buffer, offset, 3),
      force: floats(buffer, offset + 12, 3),
      body1: view.getUint16(offset + 24, true),
      body2: view.getUint16(offset + 26, true),
    });
  }
  return contacts;
}

function decodePhantoms(buffer: ArrayBuffer, view: DataView, offset: number, count: number): PhantomPose[] {
  const phantoms: PhantomPose[] = [];
  for (let i = 0; i < count; i++) {
    fits(buffer, offset + 12);
    const bodies = view.getUint16(offset + 2, true);
    fits(buffer, offset + 12 + 28 * bodies);
    phantoms.push({
      id: view.getUint16(offset, true),
      gapTime: view.getFloat32(offset + 4, true),
      gapDistance: view.getFloat32(offset + 8, true),
      poses: floats(buffer, offset + 12, 7 * bodies),
    });
    offset += 12 + 28 * bodies;
  }
  return phantoms;
}

export function decodeFrame(buffer: ArrayBuffer): Frame {
  fits(buffer, POSE_HEADER);
  const view = new DataView(buffer);
  const bodies = view.getUint16(20, true);
  const contactCount = view.getUint16(22, true);
  const contactsAt = POSE_HEADER + 28 * bodies;
  const phantomsAt = contactsAt + 28 * contactCount;
  fits(buffer, phantomsAt);
  return {
    sequence: view.getUint32(4, true),
    time: view.getFloat64(8, true),
    epoch: view.getUint32(16, true),
    poses: floats(buffer, POSE_HEADER, 7 * bodies),
    contacts: view.getUint8(1) & 1 ? decodeContacts(buffer, view, contactsAt, contactCount) : null,
    phantoms: decodePhantoms(buffer, view, phantomsAt, view.getUint16(2, true)),
  };
}

export function decodeSamples(buffer: ArrayBuffer): Samples {
  fits(buffer, SIGNAL_HEADER);
  const view = new DataView(buffer);
  const width = view.getUint16(2, true);
  const count = view.getUint32(8, true);
  const length = count * (1 + width);
  fits(buffer, SIGNAL_HEADER + 8 * length);
  return {
    number: view.getUint32(4, true),
    width,
    count,
    lost: view.getUint32(12, true),
    rows: new Float64Array(buffer, SIGNAL_HEADER, length), // 16 is a multiple of 8
  };
}
