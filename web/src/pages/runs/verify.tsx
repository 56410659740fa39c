// verify.tsx: whether a run is what its inputs give: asked with a button, answered with what was compared.
import {useEffect, useState} from 'preact/hooks';
import {HttpError, request} from '../../http';
import {Button} from '../../ui/controls';
import {Icon} from '../../ui/icon';
import type {IconName} from '../../ui/icon';
import {checkProof, runUrl} from './types';
import type {Proof} from './types';

const LOOK_MS = 300;
const VERDICTS: Record<NonNullable<Proof['verdict']>, {title: string; kind: string; icon: IconName}> = {
  identical: {title: 'Verified: the same inputs give the same run, bit for bit', kind: 'good', icon: 'check'},
  different: {title: 'Not verified: the inputs give another run', kind: 'bad', icon: 'warning'},
  elsewhere: {title: 'It can’t be verified here: another version, library or processor made it', kind: 'warn', icon: 'warning'},
  damaged: {title: 'Not verified: the file was changed since it was written', kind: 'bad', icon: 'warning'},
  failed: {title: 'It could not be verified', kind: 'bad', icon: 'warning'},
};

const failed = (error: unknown): Proof => ({state: 'done', done: 1, verdict: 'failed', lines: [], error: error instanceof HttpError ? error.message : 'the program cannot be reached'});

/** What is known of a run, and how to ask. An answer from before is there at once. */
export function useProof(id: string) {
  const [proof, setProof] = useState<Proof | null>(null);
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    let gone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      try {
        const now = await request('GET', runUrl(id, 'verify'), undefined, checkProof);
        if (gone) return;
        setProof(now);
        if (now.state !== 'done') timer = setTimeout(look, LOOK_MS);
      } catch (error) {
        if (!gone && asked) setProof(failed(error));
      }
    };
    if (asked) void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [id, asked]);
  const ask = () => {
    setProof({state: 'waiting', done: 0, verdict: null, lines: null, error: null});
    request('POST', runUrl(id, 'verify')).then(() => setAsked((count) => count + 1), (error: unknown) => setProof(failed(error)));
  };
  return {proof, ask, close: () => setProof(null)};
}

/** "identical: …" is what the title says already. */
const withoutVerdict = (line: string) => line.replace(/^(identical|bytes): /, '');

export function Answer({proof, onClose}: {proof: Proof; onClose: () => void}) {
  if (proof.state !== 'done' || !proof.verdict) {
    return (
      <section class="proof" aria-label="Verification" role="status">
        <i class="spinner" />
        <span>{proof.state === 'waiting' ? 'Waiting for its turn…' : `Running its inputs again: ${Math.round(100 * proof.done)} %`}</span>
        <progress aria-label="Verified so far" max={1} value={proof.done} />
      </section>
    );
  }
  const {title, kind, icon} = VERDICTS[proof.verdict];
  return (
    <section class={`proof ${kind}`} aria-label="Verification" role="status">
      <Icon name={icon} size={20} />
      <div>
        <h3>{title}</h3>
        <ul>
          {proof.lines?.map((line, i) => <li key={i}>{withoutVerdict(line)}</li>)}
          {proof.error && <li>{proof.error}</li>}
          {proof.verdict === 'identical' && <li class="muted">Covered: every byte of the file, the state after every tick, and each signal and pose that is shown. Not covered: how fast the machine was, texts and statistics.</li>}
        </ul>
      </div>
      <Button icon="close" label="Close the answer" onClick={onClose} />
    </section>
  );
}
