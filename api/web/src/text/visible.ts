// Text of telemetry is hostile. It becomes text nodes only, and what would colour, move or turn round its neighbours is made visible.

const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u2028\u2029\ufeff]/g;

export function visible(text: string): string {
  return text
    .replace(escapes, '')
    .replace(/\r\n?/g, '\n')
    .replace(turning, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
    .replace(unseen, (c) => (c.charCodeAt(0) < 0x20 ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : '␡'));
}

// oneLine is for places where a line break would be a lie about what is one record.
export function oneLine(text: string): string {
  return visible(text).replace(/\s*\n\s*/g, ' ⏎ ');
}

// words makes a layer's or a state's name one that reads well.
export function words(name: string): string {
  return visible(name).replaceAll('_', ' ');
}

const moment = /(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d{1,3})?\d*Z/g;

// sentence is for Faultline's own words: a capital, and moments as people read them. What records say is quoted as it is.
export function sentence(text: string): string {
  const shown = told(text);
  return shown.charAt(0).toUpperCase() + shown.slice(1);
}

// told is a sentence's middle.
export function told(text: string): string {
  return visible(text).replace(moment, '$1 $2$3 UTC');
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}
