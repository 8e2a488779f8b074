// A fault's summary says what is wrong and, in brackets, the words of the record that says so.
export interface Quoted {
  what: string;
  source: string;
  quote: string;
}

const inBrackets = /^(.*?)\s\(([\w./ @-]+): "(.*)"\)$/s;

export function quoted(summary: string): Quoted {
  const found = inBrackets.exec(summary);
  if (!found) return { what: summary, source: '', quote: '' };
  return { what: found[1]!, source: found[2]!, quote: found[3]! };
}
