// format.ts: numbers, units and times as people read them.

const MINUS = '\u2212';

/** A value in at most `digits` significant digits, never longer than about nine characters: 12.30, −0.0042, 1.2e7. */
export function formatValue(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '–' : value > 0 ? '∞' : `${MINUS}∞`;
  if (value === 0) return '0';
  const magnitude = Math.abs(value);
  if (magnitude >= 1e7 || magnitude < 1e-4) return value.toExponential(2).replace('e+', 'e').replace(/-/g, MINUS);
  if (Number.isInteger(value)) return value.toString().replace('-', MINUS);
  const rounded = Number(magnitude.toPrecision(digits)); // 0.99996 is 1.000
  const decimals = Math.max(0, Math.min(6, digits - 1 - Math.floor(Math.log10(rounded))));
  return value.toFixed(decimals).replace('-', MINUS);
}

/** What a simulation computes, in SI: a plot that varies less is a constant. */
export const NOTHING = 1e-9;
/** Below this a value reads 0: it is what rounding and contacts left of nothing. */
const UNREAD = 1e-6;

/** What was computed or measured: the same on every page. */
export function formatSignal(value: number, digits?: number): string {
  return formatValue(Math.abs(value) < UNREAD ? 0 : value, digits);
}

/** A tick of an axis, with as many digits as the distance to the next needs: 0.25, −4.0e−13. */
export function formatTick(value: number, step: number): string {
  if (Math.abs(value) < 1e-6 * step) return '0';
  if (Math.abs(value) >= 1e6) return formatValue(value);
  if (step < 1e-6) {
    const digits = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(1.001 * step));
    return value.toExponential(Math.max(0, Math.min(6, digits))).replace(/-/g, MINUS);
  }
  let decimals = 0;
  while (decimals < 6 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals++;
  return value.toFixed(decimals).replace('-', MINUS);
}

/** A tick of an axis of run time, as the time line writes it, with as many decimals as the distance to the next needs: 2.5 s, and where an axis
 *  reaches a minute 16:44 or 1:00:00. */
export function formatTimeTick(seconds: number, step: number, greatest: number): string {
  if (greatest < 60) return `${formatTick(seconds, step)} s`;
  const [whole = '0', rest] = formatTick(Math.abs(seconds), Math.min(1, step)).split('.');
  const total = Number(whole);
  const parts = [...(greatest >= 3600 ? [Math.floor(total / 3600)] : []), Math.floor(total / 60) % (greatest >= 3600 ? 60 : Infinity), total % 60];
  const text = parts.map((part, i) => String(part).padStart(i ? 2 : 1, '0')).join(':');
  return `${seconds < 0 ? MINUS : ''}${text}${rest ? `.${rest}` : ''}`;
}

/** m:ss.mmm, or h:mm:ss from an hour on. */
export function formatClock(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–:––.–––';
  // Cut, not rounded, so that 59.9996 is not shown as 60; what is a whole millisecond but for its last bits is that.
  const all = Math.floor(Math.abs(seconds) * 1000 + 1e-6);
  const sign = seconds < 0 && all ? MINUS : '';
  const total = all / 1000;
  const minutes = Math.floor(all / 60000);
  if (minutes >= 60) {
    const parts = [Math.floor(minutes / 60), minutes % 60, Math.floor(total % 60)];
    return sign + parts.map((part, i) => String(part).padStart(i ? 2 : 1, '0')).join(':');
  }
  const millis = all % 60000;
  return `${sign}${minutes}:${String(Math.floor(millis / 1000)).padStart(2, '0')}.${String(millis % 1000).padStart(3, '0')}`;
}

/** 12 s, 3 min 05 s, 2 h 10 min. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${formatValue(seconds, 3)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')} min`;
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit++;
  }
  return `${unit ? formatValue(bytes, 3) : bytes} ${units[unit]}`;
}

/** 12 345 with thin spaces. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

export function formatRate(perSecond: number): string {
  return `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)} /s`;
}

/** Made when first needed, and once: to make one takes as long as to write a hundred dates. */
const dates: Partial<Record<'short' | 'medium', Intl.DateTimeFormat>> = {};

/** 20 Nov 2026, 19:41 in the reader's own time zone, and its seconds where they tell apart; "" for what is no date. */
export function formatDate(iso: string, seconds = false): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  const timeStyle = seconds ? 'medium' : 'short';
  dates[timeStyle] ??= new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle});
  return dates[timeStyle].format(date);
}

/** A CSV cell by RFC 4180. Text that a spreadsheet would take for a formula is kept from being one. */
export function csvCell(cell: string | number): string {
  if (typeof cell === 'number') return Number.isFinite(cell) ? String(cell) : '';
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** Numbers without a dimension have the unit 1, which nobody writes. */
export function shownUnit(unit: string): string {
  return unit === '1' ? '' : unit;
}

/** Whether every word, in small letters, occurs in a name: how people search. */
export function matches(name: string, words: string[]): boolean {
  const low = name.toLowerCase();
  return words.every((word) => low.includes(word));
}
