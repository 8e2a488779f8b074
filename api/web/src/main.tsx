import { render } from 'preact';
import { get } from './api/client.ts';
import { Page } from './shell/page.tsx';

// Who asks is settled by one request: without a session the page would send a dozen, each refused.
void get('/api/v1/session')
  .catch(() => undefined)
  .then(() => render(<Page />, document.getElementById('page')!));
