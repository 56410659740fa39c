// kept_messages.tsx: what the robots were told up to the moment that is shown: the accepted messages in the log of the run.
import {useEffect} from 'preact/hooks';
import {listOf, number, object, text} from '../../check';
import {formatClock, formatCount, formatSignal, shownUnit} from '../../format';
import {request} from '../../http';
import {Following} from '../../live/following';
import {isOfWorld, moment, shownRun} from '../../live/moment';
import {runAddress} from '../../live/shown_run';
import {Empty, Panel} from '../../ui/controls';

const SHOWN = 60;
const PAUSE_MS = 50;
const accepted = listOf(object({time: number, step: number, source: text, values: listOf(object({name: text, value: number, unit: text}))}));

const following = new Following((run, time) => request('GET', `${runAddress(run)}/messages?before=${time}&limit=${SHOWN}`, undefined, accepted), PAUSE_MS);

export function KeptMessages() {
  const time = moment.value ?? 0;
  const run = shownRun.value;
  useEffect(() => {
    if (run) following.want(run, time);
  }, [run, time]);
  const known = following.answer.value;
  const messages = known?.run === run ? [...known.value].reverse() : [];
  return (
    <Panel title={`Accepted up to ${formatClock(time)}, the last first`} class="kept-messages">
      {messages.length ? (
        <div class="scroll" tabIndex={0} role="group" aria-label="Accepted messages">
          <table class="messages">
            <thead>
              <tr><th class="number">time</th><th class="number">step</th><th>from</th><th>values</th></tr>
            </thead>
            <tbody>
              {messages.map(({time: at, step, source, values}, i) => (
                <tr key={messages.length - i}>
                  <td class="number">{formatClock(at)}</td>
                  <td class="number">{formatCount(step)}</td>
                  <td><span class="tag">{source}</span></td>
                  <td class="summary mono">{values.map(({name, value, unit}) => `${name} ${formatSignal(value)} ${shownUnit(unit)}`.trim()).join('   ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <Empty icon="wires" title="Nothing was accepted up to this moment">
          {isOfWorld.value ? 'The messages that pass now are there again when the time line is LIVE.' : 'No robot of this run had been told anything yet.'}
        </Empty>
      )}
    </Panel>
  );
}
