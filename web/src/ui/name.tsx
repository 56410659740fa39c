// name.tsx: the name of a signal or a command; where it takes two lines it breaks behind a dot, a slash or a low line.
import {Fragment} from 'preact';

export function Name({text}: {text: string}) {
  return <>{text.split(/(?<=[./:_])/).map((part, i) => <Fragment key={i}>{i > 0 && <wbr />}{part}</Fragment>)}</>;
}
