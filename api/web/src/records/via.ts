// How a record was found to belong here, in words; the contract's `via`.
const told: Record<string, string> = {
  explicit: 'it names the allocation itself',
  workflow: 'its workflow belongs to the allocation',
  task: 'its task belongs to the allocation',
  claim: 'its claim belongs to the allocation',
  provider_job: "its provider's job belongs to the allocation",
  outbox: 'its outbox record belongs to the allocation',
  resource: 'the resource that it names belongs to the allocation',
  correlation: "it is part of the caller's operation that belongs to the allocation",
  request: 'its request belongs to the allocation',
  trace: 'its trace belongs to the allocation',
  node_instance: 'the allocation held its node instance at that time',
  node: 'the allocation held its node at that time',
  context: 'it is cited as context: it belongs to no allocation, and says something of this one’s surroundings',
};

export function viaInWords(via: string): string {
  return told[via] ?? (via === '' ? 'it is of no record' : via);
}
