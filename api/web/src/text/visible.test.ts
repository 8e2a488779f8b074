import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quoted } from './quoted.ts';
import { oneLine, sentence, visible } from './visible.ts';

test('what would colour, move or turn round its neighbours is made visible', () => {
  assert.equal(visible('\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007'), 'red link');
  assert.equal(visible('a\u202egnp.exe'), 'a⟨U+202E⟩gnp.exe');
  assert.equal(visible('a\u0000b\u0007c\u0085'), 'a␀b␇c␡');
  assert.equal(visible('<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>'); // a text node, never markup
  assert.equal(oneLine('one\r\n  two'), 'one ⏎ two');
});

test("Faultline's own words are sentences, with moments as people read them", () => {
  assert.equal(
    sentence('released since 2026-03-02T10:57:13.808050709Z; fine'),
    'Released since 2026-03-02 10:57:13.808 UTC; fine',
  );
});

test('a summary is told apart from the words that it quotes', () => {
  assert.deepEqual(quoted('a certificate has expired (nginx: "x509: (10:expired)")'), {
    what: 'a certificate has expired',
    source: 'nginx',
    quote: 'x509: (10:expired)',
  });
  assert.equal(quoted('no back end (503 by envoy)').what, 'no back end (503 by envoy)');
});
