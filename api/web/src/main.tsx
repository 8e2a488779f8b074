import { render } from 'preact';
import { Page } from './shell/page.tsx';

render(<Page />, document.getElementById('page')!);
