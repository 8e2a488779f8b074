import { DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';

// uid of a dashboard; it never changes, since people keep links to it.
export const uid = (name: string): string => `faultline-${name}`;

const range = '${__url_time_range}&var-environment=${environment:percentencode}';

const field = (name: string): string => `\${__data.fields["${name}"]:percentencode}`;

// Links from a row's field to the dashboard of what it names.
export const toAllocation = (name = 'allocation_id'): DashboardLinkBuilder =>
  new DashboardLinkBuilder('Allocation').url(`/d/${uid('allocation')}?var-allocation_id=${field(name)}&${range}`);

export const toNode = (name = 'node_id'): DashboardLinkBuilder =>
  new DashboardLinkBuilder('Node').url(`/d/${uid('node')}?var-node_id=${field(name)}&${range}`);

export const toLayer = (label: string): DashboardLinkBuilder =>
  new DashboardLinkBuilder('Layers').url(
    `/d/${uid('layers')}?var-layer=\${__field.labels.${label}:percentencode}&${range}`,
  );

// Links into the page, whose URL the correlator tells.
export const toPage = (title: string, path: string): DashboardLinkBuilder =>
  new DashboardLinkBuilder(title)
    .type(DashboardLinkType.Link)
    .icon('external link')
    .targetBlank(true)
    .url(`\${page:raw}${path}`);

export const allocationInPage = (name = 'allocation_id'): DashboardLinkBuilder =>
  toPage('Open in the page', `/ui/allocations/${field(name)}`);

export const nodeInPage = (name = 'node_id'): DashboardLinkBuilder =>
  toPage('Open in the page', `/ui/nodes/${field(name)}`);

export const traceInPage = (name = 'trace_id'): DashboardLinkBuilder => toPage('Trace', `/ui/traces/${field(name)}`);

export const ruleInPage = (name = 'rule'): DashboardLinkBuilder => toPage('Rule', `/ui/rules?q=${field(name)}`);

// The row of links that every dashboard has: the others, with their variables and time, and the page.
export const links = (path: string): DashboardLinkBuilder[] => [
  new DashboardLinkBuilder('Faultline')
    .type(DashboardLinkType.Dashboards)
    .tags(['faultline'])
    .icon('dashboard')
    .includeVars(true)
    .keepTime(true),
  toPage('The page', path),
];
