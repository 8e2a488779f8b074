import { useState } from 'preact/hooks';
import { AllocationPage } from '../allocation/page.tsx';
import { signedOut } from '../api/client.ts';
import { HomePage } from '../home/page.tsx';
import { IncidentPage } from '../incident/page.tsx';
import { NodePage } from '../node/page.tsx';
import { go, match, place } from '../route/route.ts';
import { RulesPage } from '../rules/page.tsx';
import { SearchPage } from '../search/page.tsx';
import { SourcesPage } from '../sources/page.tsx';
import { TracePage } from '../trace/page.tsx';
import { Header } from './header.tsx';
import { Help } from './help.tsx';
import { useKeys } from './keys.tsx';
import { SignIn } from './signin.tsx';

export function Page() {
  const [help, setHelp] = useState(false);
  useKeys({
    '?': () => setHelp(true),
    '/': () => document.querySelector<HTMLInputElement>('#find')?.focus(),
    h: () => go('/ui/'),
  });
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <Header help={() => setHelp(true)} />
      <main id="main" tabIndex={-1}>
        {signedOut.value ? <SignIn /> : <Place />}
      </main>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

function Place() {
  const { path } = place.value;
  const allocation = match(path, 'allocations');
  if (allocation !== undefined) return <AllocationPage key={allocation} id={allocation} />;
  const node = match(path, 'nodes');
  if (node !== undefined) return <NodePage key={node} id={node} />;
  const incident = match(path, 'incidents');
  if (incident !== undefined) return <IncidentPage key={incident} id={incident} />;
  const trace = match(path, 'traces');
  if (trace !== undefined) return <TracePage key={trace} id={trace} />;
  switch (path) {
    case '/ui/':
    case '/ui/incidents': // they stand there
      return <HomePage />;
    case '/ui/rules':
      return <RulesPage />;
    case '/ui/sources':
      return <SourcesPage />;
    case '/ui/search':
      return <SearchPage />;
  }
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        <a href="/ui/">What is stuck or failed now</a>
      </p>
    </>
  );
}
