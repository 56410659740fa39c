// run_list.tsx: the runs, searched and filtered, with a box on each to compare it.
import {formatBytes, formatClock, formatDate, formatDuration} from '../../format';
import {go, setParams} from '../../route';
import {Allowed} from '../../ui/allowed';
import {Button} from '../../ui/controls';
import {Icon} from '../../ui/icon';
import {PatientImage} from '../../ui/patient_image';
import {bring, bringing, compare, compared, found, MOST_COMPARED, tag, tagsOf, TIMES, toggleCompared, when, words} from './library';
import {pictureUrl, titleOf} from './types';
import type {Run} from './types';

function Filters({runs}: {runs: Run[]}) {
  const tags = tagsOf(runs);
  const set = (key: string) => (event: {currentTarget: {value: string}}) => setParams({[key]: event.currentTarget.value || null}, 'runs');
  return (
    <search class="run-filters">
      <input type="search" aria-label="Search runs" placeholder="Search name, scene, tag, note" value={words.value ?? ''} onInput={set('search')} />
      <select aria-label="When" value={when.value ?? ''} onChange={set('when')}>
        {Object.entries(TIMES).map(([value, text]) => (
          <option key={value} value={value}>{text}</option>
        ))}
      </select>
      {tags.length > 0 && (
        <select aria-label="Tag" value={tag.value ?? ''} onChange={set('tag')}>
          <option value="">Any tag</option>
          {tags.map((each) => (
            <option key={each} value={each}>{each}</option>
          ))}
        </select>
      )}
    </search>
  );
}

/** Of the line below the search: how many there are, and what was chosen. */
function Count({shown, all}: {shown: number; all: number}) {
  const chosen = compared.value.length;
  return (
    <div class="run-count">
      <span class="muted" role="status">{shown === all ? `${all} ${all === 1 ? 'run' : 'runs'}` : `${shown} of ${all} runs`}</span>
      {chosen > 0 && <Button icon="close" label={`${chosen} chosen: choose none`} text={`${chosen} chosen`} onClick={() => compare([])} />}
      <Allowed needs="drive">
        <label class="button plain" title="Or drop it on this page">
          <Icon name="plus" size={14} />
          <span>{bringing.value ? `${Math.round(100 * bringing.value.done)} %` : 'Open a log'}</span>
          <input class="visually-hidden" type="file" accept=".wpilog" multiple aria-label="Open a log" disabled={!!bringing.value} onChange={(event) => { void bring([...(event.currentTarget.files ?? [])]); event.currentTarget.value = ''; }} />
        </label>
      </Allowed>
    </div>
  );
}

function Card({run, current}: {run: Run; current: boolean}) {
  const chosen = compared.value.includes(run.id);
  const full = compared.value.length >= MOST_COMPARED;
  return (
    <li class={`run-item${chosen ? ' chosen' : ''}`}>
      <button type="button" class="run-card" aria-current={current || undefined} onClick={() => go('runs', {id: run.id, runs: null})}>
        <PatientImage class="run-picture" src={pictureUrl(run)} width={320} height={120} />
        <span class="run-name">
          <span>{titleOf(run)}</span>
          {run.pinned && <Icon name="pin" size={14} />}
          {run.from && <span title={`Goes on from ${run.from.name} at ${formatClock(run.from.time)}`}><Icon name="fork" size={14} /></span>}
          {run.recording && <span class="tag bad">recording</span>}
        </span>
        <span class="muted">{formatDate(run.started)}{run.name && ` · ${run.scene}`}</span>
        <span class="run-figures"><Icon name="trials" size={14} />{formatDuration(run.duration)} · {formatBytes(run.size)}{run.pinned && <span class="visually-hidden"> pinned</span>}</span>
        {run.tags.length > 0 && <span class="run-tags">{run.tags.map((each) => <span key={each} class="tag">{each}</span>)}</span>}
      </button>
      <label class="run-choose" title={!chosen && full ? `At most ${MOST_COMPARED} are compared` : 'Compare'}>
        <input type="checkbox" aria-label={`Compare ${titleOf(run)}, ${formatDate(run.started)}`} checked={chosen} disabled={!chosen && full} onChange={() => toggleCompared(run.id)} />
      </label>
    </li>
  );
}

export function RunList({runs, current}: {runs: Run[]; current: string}) {
  const shown = found(runs);
  return (
    <nav class="run-list" aria-label="Runs">
      <Filters runs={runs} />
      <Count shown={shown.length} all={runs.length} />
      <ul class="run-cards">
        {shown.map((run) => <Card key={run.id} run={run} current={run.id === current && compared.value.length < 2} />)}
        {!shown.length && <li class="muted run-none">None fits. <button type="button" class="link" onClick={() => setParams({search: null, when: null, tag: null}, 'runs')}>Show all</button></li>}
      </ul>
    </nav>
  );
}
