// allowed.tsx: controls that a role must allow: disabled as a whole where it doesn't, with the reason.
import type {ComponentChildren} from 'preact';
import type {Role} from '../role';
import {lacks, may} from '../role';
import {Icon} from './icon';

/** Its controls do nothing without the role. No box of its own. */
export function Allowed({needs, children}: {needs: Role; children: ComponentChildren}) {
  const denied = !may(needs);
  return <fieldset class="allowed" disabled={denied} aria-label={denied ? lacks(needs) : undefined}>{children}</fieldset>;
}

/** The reason, where there is one. */
export function Denied({needs}: {needs: Role}) {
  return may(needs) ? null : (
    <p class="denied" role="status"><Icon name="warning" size={14} /> {lacks(needs)}</p>
  );
}
