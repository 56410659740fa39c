// mapping_editor.tsx: which control moves what, for one robot.
import {formatSignal, shownUnit} from '../../format';
import {model} from '../../live/store';
import {Button, Panel} from '../../ui/controls';
import {NumberField} from '../../ui/typed';
import {commandsOf, FORWARD, KINDS, SOURCES, TURN} from '../../driving/mapping';
import type {Row, RowKind, Source} from '../../driving/mapping';
import {guessAgain, mapping, robot, sent, setMapping} from '../../driving/session';

export function MappingEditor() {
  const commands = commandsOf(model.value!, robot.value);
  const placeable = commands.has('x') && commands.has('heading');
  const targets = [...(placeable ? [FORWARD, TURN] : []), ...commands.keys()];
  const change = (at: number, part: Partial<Row>) => setMapping(mapping.value.map((row, i) => (i === at ? {...row, ...part} : row)));
  return (
    <Panel
      title={`Controls of ${model.value!.robots[robot.value]?.name ?? 'nobody'}`}
      class="mapping"
      actions={
        <>
          <Button icon="reset" label="Guess from the names of its commands" text="Guess" onClick={guessAgain} />
          <Button
            icon="plus"
            label="Add a row"
            text="Row"
            onClick={() => setMapping([...mapping.value, {source: 'right_y', kind: 'value', target: targets[0] ?? '', scale: 1}])}
          />
        </>
      }
    >
      <div class="scroll">
        <table>
          <thead>
            <tr><th>control</th><th>action</th><th>command</th><th class="number">scale</th><th class="number">now</th><th><span class="visually-hidden">remove</span></th></tr>
          </thead>
          <tbody>
            {mapping.value.map((row, i) => (
              <tr key={i}>
                <td>
                  <select aria-label={`Control of row ${i + 1}`} value={row.source} onChange={(event) => change(i, {source: event.currentTarget.value as Source})}>
                    {Object.entries(SOURCES).map(([source, text]) => (
                      <option key={source} value={source}>{text}</option>
                    ))}
                  </select>
                </td>
                <td>
                  <select aria-label={`Kind of row ${i + 1}`} value={row.kind} onChange={(event) => change(i, {kind: event.currentTarget.value as RowKind})}>
                    {Object.entries(KINDS).map(([kind, text]) => (
                      <option key={kind} value={kind}>{text}</option>
                    ))}
                  </select>
                </td>
                <td>
                  <select aria-label={`Command of row ${i + 1}`} title={row.target} value={row.target} onChange={(event) => change(i, {target: event.currentTarget.value})}>
                    {!targets.includes(row.target) && <option value={row.target}>{row.target} (gone)</option>}
                    {targets.map((target) => (
                      <option key={target} value={target}>{target === FORWARD ? 'drive forward' : target === TURN ? 'turn' : target}</option>
                    ))}
                  </select>
                </td>
                <td class="number">
                  <NumberField live label={`Scale of row ${i + 1}`} value={row.scale} onChange={(scale) => change(i, {scale})} />
                  <span class="unit">{shownUnit(commands.get(row.target)?.info.unit ?? (row.target === FORWARD ? 'm/s' : row.target === TURN ? 'rad/s' : ''))}</span>
                </td>
                <td class="number mono">{sent.value.has(row.target) ? formatSignal(sent.value.get(row.target)!, 3) : '–'}</td>
                <td><Button icon="close" label={`Remove row ${i + 1}`} onClick={() => setMapping(mapping.value.filter((_, k) => k !== i))} /></td>
              </tr>
            ))}
          </tbody>
        </table>
        {!mapping.value.length && <p class="muted none">No control moves anything yet: add a row, or let Tether guess.</p>}
      </div>
    </Panel>
  );
}
