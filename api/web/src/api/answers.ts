// The answers' names, shorter than the generated ones.
import type { components } from './schema.ts';

type Schemas = components['schemas'];

export type Allocation = Schemas['Allocation'];
export type Assessment = Schemas['Assessment'];
export type Catalog = Schemas['Catalog'];
export type Considered = Schemas['Considered'];
export type Deliberation = Schemas['Deliberation'];
export type Drift = Schemas['Drift'];
export type Entry = Schemas['Entry'];
export type Fault = Schemas['Fault'];
export type FullEvent = Schemas['FullEvent'];
export type Handoff = Schemas['Handoff'];
export type Incident = Schemas['Incident'];
export type LayerList = Schemas['LayerList'];
export type Listed = Schemas['Listed'];
export type Lookup = Schemas['Lookup'];
export type Node = Schemas['Node'];
export type Owner = Schemas['Owner'];
export type RecoveryActions = Schemas['RecoveryActions'];
export type RecoveryRequest = Schemas['RecoveryRequest'];
export type Revision = Schemas['Revision'];
export type Session = Schemas['Session'];
export type SourceList = Schemas['SourceList'];
export type States = Schemas['States'];
export type Stuck = Schemas['Stuck'];
export type Verdict = Schemas['Verdict'];

// Problem is an RFC 9457 problem document.
export interface Problem {
  type?: string;
  title: string;
  status: number;
  detail?: string;
}
