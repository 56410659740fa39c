// monitor.tsx: the messages of one wire as they pass, each as the byte table reads it.
import {useEffect, useState} from 'preact/hooks';
import {formatCount} from '../../format';
import {send, whileConnected} from '../../live/connection';
import {messages} from '../../live/store';
import type {WireMessage} from '../../live/types';
import {Button, Empty, Panel, Segmented} from '../../ui/controls';
import {Message} from './hex';

const DIRECTIONS = [
  {value: 'both', text: 'Both'},
  {value: 'in', text: 'In'},
  {value: 'out', text: 'Out'},
] as const;
const SHOWN = 60;
/** Values in the line of a message; the rest would be cut off. */
const SUMMARY = 16;

export function Monitor({wire}: {wire: number}) {
  const [direction, setDirection] = useState<'both' | 'in' | 'out'>('both');
  const [held, setHeld] = useState<WireMessage[] | null>(null);
  const [chosen, setChosen] = useState<WireMessage | null>(null);
  useEffect(() => {
    messages.value = [];
    setHeld(null);
    setChosen(null);
    const stop = whileConnected(() => send({type: 'monitor', wire}));
    return () => {
      stop();
      send({type: 'monitor', wire: -1});
    };
  }, [wire]);
  const list = (held ?? messages.value)
    .filter((message) => message.wire === wire && (direction === 'both' || message.incoming === (direction === 'in')))
    .slice(-SHOWN)
    .reverse();
  const detail = chosen ?? list[0];
  return (
    <Panel
      title="Messages"
      class="monitor"
      actions={
        <>
          <Segmented label="Direction" options={DIRECTIONS} value={direction} onChange={setDirection} />
          <Button
            icon={held ? 'play' : 'pause'}
            label={held ? 'Go on' : 'Hold'}
            text={held ? 'Go on' : 'Hold'}
            pressed={!!held}
            onClick={() => {
              setHeld(held ? null : messages.value);
              setChosen(null);
            }}
          />
        </>
      }
    >
      {detail ? (
        <div class="monitor-body">
          <div class="scroll" tabIndex={0} role="group" aria-label="Recent messages">
            <table class="messages">
              <thead>
                <tr><th class="number">step</th><th>direction</th><th class="number">bytes</th><th>values</th></tr>
              </thead>
              <tbody>
                {list.map((message, i) => (
                  <tr key={`${message.step}/${message.incoming}/${list.length - i}`} class={chosen === message ? 'marked' : ''}>
                    <td class="number">
                      <button
                        type="button"
                        class="link"
                        onClick={() => {
                          setHeld(held ?? messages.value);
                          setChosen(message);
                        }}
                      >
                        {formatCount(message.step)}
                      </button>
                    </td>
                    <td><span class={`tag ${message.incoming ? 'in' : ''}`}>{message.incoming ? '→ in' : '← out'}</span></td>
                    <td class="number">{message.size}</td>
                    <td class="summary mono">{message.fields.slice(0, SUMMARY).map(({value}) => value).join('  ')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <Message size={detail.size} hex={detail.hex} fields={detail.fields} />
        </div>
      ) : (
        <Empty icon="wires" title="No message has passed yet">
          Messages show up here as soon as a program speaks on this wire; a paused world sends none.
        </Empty>
      )}
    </Panel>
  );
}
