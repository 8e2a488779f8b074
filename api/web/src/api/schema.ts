// Made from api/openapi.yaml by npm run types; not written by hand.
export interface paths {
    "/api/v1/allocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Allocations, the most recently heard of first */
        get: operations["listAllocations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One allocation, timeline and verdict */
        get: operations["getAllocation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The allocation without its verdict */
        get: operations["getTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/verdict": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The allocation without its timeline */
        get: operations["getVerdict"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/reasoning": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The verdict and how it came about, what was considered and dropped, and by which tie-break */
        get: operations["getReasoning"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What was said of the allocation, each time that it changed, oldest first */
        get: operations["getHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every rule, what it looks for, and how a choice is made between what they find */
        get: operations["listRules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stuck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Allocations whose next step is overdue, by whose trouble it is, and orphans */
        get: operations["listStuck"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/drift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Views that show something else than the truth for longer than their grace */
        get: operations["listDrift"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Allocations hit by one cause in one window, as one incident with its victims */
        get: operations["listIncidents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The records of one allocation, node, workflow, trace or correlation, in the order of time, source and key
         * @description Exactly one of the six identifiers is named. A record is found whatever was known when it was written: what leads to the identifier is followed through the links. Pages are read as of the ingested time that the first one fixed (as_of of the answer): none skips or repeats a record that could be read then, however many are inserted meanwhile.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Records by what they say, the newest first
         * @description All that is named must hold. What one search may read is bounded; one that would read more is answered with 422 and how to narrow it. Identifiers are those that a record carries or was stamped with.
         */
        get: operations["searchEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The allocations that an identifier of any kind leads to */
        get: operations["resolve"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who the caller is */
        get: operations["getSession"];
        put?: never;
        /** Takes the bearer token of the request for the cookie of a session */
        post: operations["openSession"];
        /** Ends the session of the cookie; wants the header X-Faultline-Request */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/states": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is desired, executed, observed and shown of the allocation, side by side, each with its time; and drift */
        get: operations["getStates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/raw/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One record of the allocation's timeline as it was sent, and how it was resolved */
        get: operations["getRaw"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/lines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The raw lines that carry the allocation, out of Loki
         * @description A page is that of so many records of our own index: Loki is asked for the stretches of time in which they lie, sixteen at most, without the pauses between them, and for the streams of who wrote them. Lines of the moment at which a page ends may be on the next one, too. 501 where no Loki is configured (`loki:`), 502 with Retry-After where it does not answer.
         */
        get: operations["listLines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/lines/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The raw lines that the source of a record wrote shortly before and after it, out of Loki
         * @description Our own index says which stream, which time and which identifier: Loki reads no more. 501 where no Loki is configured (`loki:`), 502 with Retry-After where it does not answer.
         */
        get: operations["getLinesAround"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/recovery": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the provisioner can do about an allocation, and under which guards */
        get: operations["listRecoveries"];
        put?: never;
        /**
         * Ask the provisioner for a recovery of the allocation; a dry run unless dry_run is false
         * @description Forwarded to the provisioner's control API with the caller's own token. The answer is the provisioner's: what it would do, or did, and which guards hold it back. Needs the role operator; force needs admin.
         */
        post: operations["recover"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Server-sent events of one allocation; each change of its verdict or state, as it is kept
         * @description Events are named `assessment` (data: a Revision) and `caught_up` (data: {}), the latter once, when all that had happened before is sent. `id` is a cursor: Last-Event-ID resumes behind it. A comment is sent every 15 seconds where nothing happens.
         */
        get: operations["followAllocation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/incidents/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Server-sent events of every allocation whose assessment changes; clients ask for what they show anew
         * @description As of an allocation; events are named `assessment`, data: a Change.
         */
        get: operations["followIncidents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/lookup/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What an identifier of any kind belongs to, when, where it was last heard of, and which layers are silent */
        get: operations["lookup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A node, its node instances over reimages, and who held it when */
        get: operations["getNode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The records of a node over all its node instances, a page at a time */
        get: operations["getNodeTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/orphans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Resources whose allocation is gone */
        get: operations["listOrphans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/layers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The layers of the profile in their order, their owners, when each was last heard of, and what it is blamed for now */
        get: operations["listLayers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who sends telemetry - alive or silent, how late, with which clock, and how much of it carries each identifier */
        get: operations["listSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Providers side by side - jobs, how they ended, how long they waited and ran */
        get: operations["compareProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Session: {
            subject: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin";
            /** @description null is all */
            tenants: string[] | null;
            /** @description nobody is asked who they are */
            open: boolean;
        };
        Events: {
            events: components["schemas"]["FullEvent"][];
            next_cursor: string | null;
            /** Format: date-time */
            as_of: string;
            /** @description too many identifiers lead here, late-linked records may be missing */
            bounded: boolean;
        };
        FullEvent: {
            /** Format: date-time */
            time: string;
            /** Format: date-time */
            end_time?: string;
            /** Format: date-time */
            observed_time: string;
            /** Format: date-time */
            ingested_time: string;
            /** @enum {string} */
            signal: "log" | "span";
            layer: string;
            source: string;
            scope?: string;
            name?: string;
            severity: string;
            body?: string;
            trace_id?: string;
            span_id?: string;
            parent_span_id?: string;
            span_kind?: string;
            status?: string;
            status_message?: string;
            span_events?: {
                /** Format: date-time */
                time: string;
                name: string;
                attributes: {
                    [key: string]: string;
                };
            }[];
            attributes: {
                [key: string]: string;
            };
            resource: {
                [key: string]: string;
            };
            ids: {
                [key: string]: string;
            };
            via: string;
            ref: string;
            summary: string;
        };
        Reasoned: components["schemas"]["JudgedAllocation"] & {
            reasoning: {
                troubles: components["schemas"]["Deliberation"][];
                handoffs: components["schemas"]["Handoff"][];
            };
        };
        Deliberation: {
            trouble: string;
            kind: string;
            owes: string;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            at: string;
            cites: string[];
            ruling: string;
            because: string;
            considered: components["schemas"]["Considered"][];
        };
        Considered: {
            rule: string;
            layer: string;
            mechanism: string;
            weight: string;
            directness: string;
            /** Format: date-time */
            onset: string;
            summary: string;
            evidence: string[];
            kept: boolean;
            because: string;
        };
        History: {
            allocation_id: string;
            revisions: components["schemas"]["Revision"][];
        };
        Revision: {
            allocation_id: string;
            /** Format: date-time */
            judged_at: string;
            /**
             * Format: date-time
             * @description the newest time of arrival among what was judged
             */
            high_water: string;
            /** @enum {string} */
            why: "first" | "records" | "time" | "rules";
            differs: string[];
            changed_by: {
                ref: string;
                summary: string;
            }[];
            assessment: components["schemas"]["Assessment"];
        };
        Assessment: components["schemas"]["JudgedAllocation"] & {
            /** Format: date-time */
            last_seen: string;
            occurrences: Record<string, never>[];
            orphans: components["schemas"]["Orphan"][];
            stuck: components["schemas"]["Stuck"] | null;
        };
        Stuck: {
            what: string;
            /** @description the layer that owes the next move */
            owes: string;
            owner: components["schemas"]["Owner"];
            /** Format: date-time */
            owed_since: string;
            /** Format: date-time */
            deadline: string;
            /**
             * Format: date-time
             * @description the newest sign of life of that layer after the deadline
             */
            seen_at: string | null;
            evidence: string[];
        };
        Orphan: {
            resource_uid: string;
            kind: string;
            allocation_id: string;
            evidence: string[];
        };
        Owner: {
            team?: string;
            contact?: string;
            runbook?: string;
        };
        StuckList: {
            /** Format: date-time */
            as_of: string;
            examined: number;
            allocations: (components["schemas"]["Head"] & components["schemas"]["Stuck"] & {
                overdue_seconds: number;
                /** @description whose trouble it is */
                layer: string;
                layer_owner: components["schemas"]["Owner"];
                cause: string;
                outcome: string;
            })[];
            orphans: components["schemas"]["Orphan"][];
        };
        DriftList: {
            /** Format: date-time */
            as_of: string;
            examined: number;
            drift: {
                allocation_id: string;
                state: string | null;
                projection: string;
                field: string;
                shown: string;
                truth: string;
                /** Format: date-time */
                since: string;
                outcome: string;
            }[];
        };
        IncidentList: {
            /** Format: date-time */
            as_of: string;
            examined: number;
            incidents: components["schemas"]["Incident"][];
        };
        LinesAround: {
            ref: string;
            source: string;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description there are more, later ones */
            bounded: boolean;
            lines: components["schemas"]["Line"][];
        };
        Line: {
            /** Format: date-time */
            time: string;
            line: string;
            /** @description labels and structured metadata */
            labels: {
                [key: string]: string;
            };
        };
        Lines: {
            lines: components["schemas"]["Line"][];
            next_cursor: string | null;
            /** Format: date-time */
            as_of: string;
            /** @description log records of this page by our index; lines without the allocation beside them, because it was learnt later, are not found */
            records: number;
            /** @description what was looked through */
            stretches: {
                /** Format: date-time */
                from: string;
                /** Format: date-time */
                to: string;
                sources: string[];
            }[];
            /** @description lines, or late-linked records, may be missing: there are more than are read at once */
            bounded: boolean;
        };
        Incident: {
            incident_id: string;
            layer: string;
            mechanism: string;
            rule: string;
            subject: {
                /** @enum {string} */
                kind: "node" | "certificate" | "host" | "provider" | "component" | "layer" | "allocation";
                ids: string[];
                /** @description of a component: the names under which it was dialled */
                hosts?: string[];
            };
            summary: string;
            /** @enum {string} */
            confidence: "high" | "medium" | "low";
            contested: boolean;
            /** Format: date-time */
            first_seen: string;
            /** Format: date-time */
            last_seen: string;
            open: boolean;
            next_check: string;
            safe_action: string;
            owner: components["schemas"]["Owner"];
            victims: {
                allocation_id: string;
                state: string | null;
                /** Format: date-time */
                onset: string;
                /** Format: date-time */
                cleared_at: string | null;
                open: boolean;
                contested: boolean;
                evidence: string[];
            }[];
        };
        Catalog: {
            rules_version: string;
            tiebreaks: string[];
            rules: {
                rule: string;
                layer: string;
                mechanism: string;
                looks_for: string;
                stands_on: string;
                next_check: string;
                safe_action: string;
            }[];
        };
        Listed: {
            allocation_id: string;
            state: string | null;
            /** Format: date-time */
            since: string | null;
            /** Format: date-time */
            last_seen: string;
            tenant?: string;
            provider?: string;
            /**
             * @description absent where it was not judged yet
             * @enum {string}
             */
            outcome?: "none" | "attributed" | "contested" | "undetermined";
            /** @description of the strongest fault */
            layer?: string;
            /** @enum {string} */
            confidence?: "high" | "medium" | "low";
            /** @description who owns that layer */
            team?: string;
            summary?: string;
            stuck?: boolean;
            overdue_seconds?: number;
        };
        Head: {
            allocation_id: string;
            state: string | null;
            /** Format: date-time */
            since: string | null;
        };
        Timeline: components["schemas"]["Head"] & {
            timeline: components["schemas"]["Entry"][];
        };
        JudgedAllocation: components["schemas"]["Head"] & {
            verdict: components["schemas"]["Verdict"];
            /**
             * Format: date-time
             * @description when it was kept; absent where it was given for this question
             */
            judged_at?: string;
        };
        Allocation: components["schemas"]["Timeline"] & components["schemas"]["JudgedAllocation"];
        Entry: {
            /** Format: date-time */
            time: string;
            /** Format: date-time */
            observed_time: string;
            layer: string;
            source: string;
            /** @enum {string} */
            kind: "log" | "span" | "state" | "task" | "job" | "audit" | "projection" | "outbox" | "deploy" | "binding" | "heartbeat" | "gap";
            name: string;
            severity: string;
            summary: string;
            ids: {
                [key: string]: string;
            };
            via: string;
            ref: string;
        };
        Verdict: {
            /** @enum {string} */
            outcome: "none" | "attributed" | "contested" | "undetermined";
            explanation: string;
            /** Format: date-time */
            as_of: string;
            rules_version: string;
            faults: components["schemas"]["Fault"][];
            candidates: {
                layer?: string;
                why?: string;
            }[];
            missing: {
                layer?: string;
                why?: string;
            }[];
            drift: {
                projection?: string;
                field?: string;
                shown?: string;
                truth?: string;
                /** Format: date-time */
                since?: string;
            }[];
            findings: {
                kind?: string;
                summary?: string;
                refs?: string[];
                rule?: string;
            }[];
        };
        Fault: {
            layer: string;
            mechanism: string;
            /** @enum {string} */
            confidence: "high" | "medium" | "low";
            /** Format: date-time */
            onset: string;
            /** Format: date-time */
            cleared_at: string | null;
            rule: string;
            summary: string;
            evidence: string[];
            symptoms: string[];
            contradicting: string[];
            next_check: string;
            safe_action: string;
            owner: {
                team?: string;
                contact?: string;
                runbook?: string;
            };
        };
        States: {
            allocation_id: string;
            /** Format: date-time */
            as_of: string;
            /** @description what was asked for last; null where no record says so */
            desired: {
                /** @description an allocation state: active, released, canceled */
                value: string;
                /** Format: date-time */
                since: string;
                /** @description who asked, as the record says it */
                by: string;
                ref: string;
            } | null;
            /** @description the newest run of each kind - workflow, task, provider_job, outbox */
            execution: {
                /** @enum {string} */
                kind: "workflow" | "task" | "provider_job" | "outbox";
                id: string;
                operation?: string;
                value: string;
                /** Format: date-time */
                since: string;
                ref: string;
            }[];
            /** @description the allocation's state as its controller says it, and the occupancy of its nodes */
            observed: {
                /** @enum {string} */
                kind: "allocation" | "node" | "node_instance";
                id: string;
                value: string;
                /** Format: date-time */
                since: string;
                ref: string;
            }[];
            /** @description what each view shows, and the truth where the view can be compared */
            projected: {
                projection: string;
                field: string;
                value: string;
                /**
                 * Format: date-time
                 * @description when the view was looked at
                 */
                seen: string;
                /**
                 * Format: date-time
                 * @description when the view was last refreshed
                 */
                as_of: string | null;
                drift: boolean;
                ref: string;
            }[];
            drift: components["schemas"]["Drift"][];
            handoffs: components["schemas"]["Handoff"][];
        };
        Handoff: {
            /** @description the layer that asked */
            from: string;
            /** @description the layer that was asked */
            to: string;
            what: string;
            /** @enum {string} */
            state: "sent" | "accepted" | "at_work" | "answered" | "refused";
            /**
             * Format: date-time
             * @description when that state was proven
             */
            at: string;
            /** @description refs */
            proof: string[];
            /** @description the last handoff with proof that the order arrived */
            frontier: boolean;
        };
        Change: {
            allocation_id: string;
            /** Format: date-time */
            judged_at: string;
            /** @enum {string} */
            why: "first" | "records" | "time" | "rules";
            differs: string[];
            state: string | null;
            /** @enum {string} */
            outcome: "none" | "attributed" | "contested" | "undetermined";
            /** @description of the strongest fault, empty where there is none */
            layer: string;
            summary: string;
            stuck: boolean;
        };
        Lookup: {
            id: string;
            /** @description which kinds of identifier it is known as: task, request, node … */
            kinds: string[];
            allocations: {
                allocation_id: string;
                state: string | null;
                /** Format: date-time */
                since: string | null;
                /** Format: date-time */
                first_seen: string;
                /** Format: date-time */
                last_seen: string;
            }[];
            nodes: string[];
            /** @description the newest record that carries it; null where none does */
            last_heard: components["schemas"]["Heard"] | null;
            layers: components["schemas"]["LayerHeard"][];
        };
        Heard: {
            /** Format: date-time */
            time: string;
            source: string;
            layer: string;
            summary: string;
            ref: string;
        };
        LayerHeard: {
            layer: string;
            /**
             * Format: date-time
             * @description of anything, whoever it concerns
             */
            last_heard: string | null;
            /** @description nothing was heard of it for five minutes */
            silent: boolean;
        };
        Node: {
            node_id: string;
            /** @description who holds it now */
            allocation_id: string | null;
            /** @description free, reserved, occupied, cleanup, fenced, unknown; empty where nobody said */
            occupancy: string;
            /** Format: date-time */
            occupancy_since: string | null;
            /** @description views that show another occupancy than there is, for longer than their grace, whether or not anybody holds the node */
            drift: components["schemas"]["Drift"][];
            /** Format: date-time */
            last_heard: string | null;
            instances: {
                node_instance_id: string;
                /** Format: date-time */
                from: string | null;
                /** Format: date-time */
                to: string | null;
            }[];
            assignments: {
                allocation_id: string;
                /** Format: date-time */
                from: string | null;
                /** Format: date-time */
                to: string | null;
            }[];
        };
        OrphanList: {
            /** Format: date-time */
            as_of: string;
            examined: number;
            orphans: components["schemas"]["Orphan"][];
        };
        LayerList: {
            /** Format: date-time */
            as_of: string;
            layers: {
                layer: string;
                owner: components["schemas"]["Owner"];
                sources: string[];
                /** Format: date-time */
                last_heard: string | null;
                silent: boolean;
                /** @description allocations with an open fault of this layer */
                blamed: number;
                /** @description allocations that wait for this layer's move */
                stuck: number;
            }[];
        };
        SourceList: {
            /** Format: date-time */
            as_of: string;
            /** @description of what the figures are */
            window_seconds: number;
            sources: {
                source: string;
                layer: string;
                /** @description heard of within five minutes */
                alive: boolean;
                /** Format: date-time */
                last_heard: string;
                silent_seconds: number;
                records: number;
                errors: number;
                /** @description median of arrival after the stamped time, negative where its clock is ahead */
                lag_seconds: number;
                /** @description how far its clock is ahead of its collectors' at most */
                ahead_seconds: number;
                /** @description records of no allocation and no node */
                unresolved: number;
                /** @description share of its records that carry, or were stamped with, each of the five identifiers */
                coverage: {
                    [key: string]: number;
                };
            }[];
        };
        ProviderComparison: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            providers: {
                provider: string;
                operation: string;
                jobs: number;
                succeeded: number;
                failed: number;
                canceled: number;
                open: number;
                wait: components["schemas"]["Spread"];
                run: components["schemas"]["Spread"];
            }[];
        };
        /** @description seconds; null where none was measured */
        Spread: {
            p50: number;
            p90: number;
            p99: number;
            max: number;
        } | null;
        RecoveryActions: {
            actions: {
                name: string;
                of: string;
                role: string;
                does: string;
                when: string;
                guards: {
                    guard: string;
                    reason: string;
                    satisfied_by: string;
                }[];
            }[];
        };
        RecoveryRequest: {
            /** @description a name from the list of actions */
            action: string;
            /**
             * @description what it acts on, as the list of actions says
             * @default allocations
             */
            of: string;
            /** @description the identifier of what it acts on; the allocation where it is left out */
            subject?: string;
            reason?: string;
            /** @default true */
            dry_run: boolean;
            /**
             * @description somebody has seen that nothing runs any more
             * @default false
             */
            runtime_verified_absent: boolean;
            /** @description where that is written */
            evidence?: string;
        };
        Drift: {
            projection: string;
            field: string;
            shown: string;
            truth: string;
            /** Format: date-time */
            since: string;
        };
    };
    responses: {
        /** @description the caller has the answer already */
        NotModified: {
            headers: {
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description what is wrong (RFC 9457) */
        Problem: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /**
                     * Format: uri-reference
                     * @description stable; its anchor in docs/api.md says what to do
                     */
                    type: string;
                    title: string;
                    status: number;
                    detail?: string;
                    instance?: string;
                };
            };
        };
    };
    parameters: {
        /** @description an allocation_id */
        id: string;
        anyID: string;
        /** @description the ref of an entry or of evidence */
        ref: string;
        /** @description the id of the last event that was received */
        lastEventID: string;
        /** @description the same, for a page that is opened anew; the header counts where both are sent */
        lastEventIDInQuery: string;
        /** @description ETags of answers that the caller has; not with as_of */
        ifNoneMatch: string;
        /** @description what had been said by then */
        saidBy: string;
        /** @description only what is this layer's */
        layer: string;
        /** @description judge by what had been observed until then */
        asOf: string;
        /** @description leave out what was ingested later */
        ingestedAsOf: string;
        /** @description stamped at or after */
        from: string;
        /** @description stamped before */
        to: string;
        /** @description next_cursor of the page before; everything else as there */
        cursor: string;
        pageLimit: number;
    };
    requestBodies: never;
    headers: {
        /** @description names what has arrived and was said of the allocation; absent with as_of, and where more may arrive unnoticed */
        ETag: string;
        /** @description seconds to wait, where waiting helps */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAllocations: {
        parameters: {
            query?: {
                /** @description only those in this state */
                state?: string;
                /** @description only what is this layer's */
                layer?: components["parameters"]["layer"];
                /** @description only those with this verdict */
                outcome?: "none" | "attributed" | "contested" | "undetermined";
                /** @description only those whose next step is overdue, or is not */
                stuck?: boolean;
                /** @description only those that this team owns the trouble of */
                owner?: string;
                /** @description only those that this provider worked for */
                provider?: string;
                /** @description only this tenant's */
                tenant?: string;
                /** @description words of the identifier, the verdict or what is owed; all of them, in any order and case */
                text?: string;
                /** @description heard of at or after */
                from?: string;
                /** @description first heard of before */
                to?: string;
                /** @description last_seen: the most recently heard of first, one page; allocation_id: pages that neither skip nor repeat what was there when the first was read */
                sort?: "last_seen" | "allocation_id";
                /** @description next_cursor of the page before, with sort=allocation_id */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a list */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        allocations: components["schemas"]["Listed"][];
                        next_cursor: string | null;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAllocation: {
        parameters: {
            query?: {
                /** @description judge by what had been observed until then */
                as_of?: components["parameters"]["asOf"];
            };
            header?: {
                /** @description ETags of answers that the caller has; not with as_of */
                "If-None-Match"?: components["parameters"]["ifNoneMatch"];
            };
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the allocation */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Allocation"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getTimeline: {
        parameters: {
            query?: {
                /** @description judge by what had been observed until then */
                as_of?: components["parameters"]["asOf"];
            };
            header?: {
                /** @description ETags of answers that the caller has; not with as_of */
                "If-None-Match"?: components["parameters"]["ifNoneMatch"];
            };
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the timeline */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Timeline"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getVerdict: {
        parameters: {
            query?: {
                /** @description judge by what had been observed until then */
                as_of?: components["parameters"]["asOf"];
            };
            header?: {
                /** @description ETags of answers that the caller has; not with as_of */
                "If-None-Match"?: components["parameters"]["ifNoneMatch"];
            };
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the verdict */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgedAllocation"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getReasoning: {
        parameters: {
            query?: {
                /** @description judge by what had been observed until then */
                as_of?: components["parameters"]["asOf"];
            };
            header?: never;
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the verdict and its reasons */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reasoned"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getHistory: {
        parameters: {
            query?: {
                /** @description the newest so many */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the revisions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["History"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the rules */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Catalog"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listStuck: {
        parameters: {
            query?: {
                /** @description only what is this layer's */
                layer?: components["parameters"]["layer"];
                /** @description what had been said by then */
                as_of?: components["parameters"]["saidBy"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description what is stuck */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StuckList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listDrift: {
        parameters: {
            query?: {
                /** @description what had been said by then */
                as_of?: components["parameters"]["saidBy"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description what drifts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DriftList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listIncidents: {
        parameters: {
            query?: {
                /** @description only what is this layer's */
                layer?: components["parameters"]["layer"];
                /** @description what had been said by then */
                as_of?: components["parameters"]["saidBy"];
                /** @description only those with at least so many victims */
                victims?: number;
                /** @description only those that are still open */
                open?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the incidents */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                allocation_id?: string;
                node_id?: string;
                node_instance_id?: string;
                workflow_id?: string;
                trace_id?: string;
                correlation_id?: string;
                /** @description stamped at or after */
                from?: components["parameters"]["from"];
                /** @description stamped before */
                to?: components["parameters"]["to"];
                /** @description leave out what was ingested later */
                as_of?: components["parameters"]["ingestedAsOf"];
                /** @description next_cursor of the page before; everything else as there */
                cursor?: components["parameters"]["cursor"];
                limit?: components["parameters"]["pageLimit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Events"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    searchEvents: {
        parameters: {
            query?: {
                /** @description whole words, in any order and case, all of them */
                text?: string;
                /** @description the least severity */
                severity?: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
                /** @description any of these */
                service?: string[];
                /** @description only what is this layer's */
                layer?: components["parameters"]["layer"];
                /** @description name=value of the record, its resource or its identifiers; all of them */
                attr?: string[];
                /** @description stamped at or after */
                from?: components["parameters"]["from"];
                /** @description stamped before */
                to?: components["parameters"]["to"];
                /** @description leave out what was ingested later */
                as_of?: components["parameters"]["ingestedAsOf"];
                /** @description next_cursor of the page before; everything else as there */
                cursor?: components["parameters"]["cursor"];
                limit?: components["parameters"]["pageLimit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Events"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    resolve: {
        parameters: {
            query: {
                id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the most recently heard of first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        allocations: string[];
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the caller */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    openSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the caller; Set-Cookie has the session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description it has ended */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    getStates: {
        parameters: {
            query?: {
                /** @description judge by what had been observed until then */
                as_of?: components["parameters"]["asOf"];
            };
            header?: {
                /** @description ETags of answers that the caller has; not with as_of */
                "If-None-Match"?: components["parameters"]["ifNoneMatch"];
            };
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the four states */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["States"];
                };
            };
            304: components["responses"]["NotModified"];
            default: components["responses"]["Problem"];
        };
    };
    getRaw: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
                /** @description the ref of an entry or of evidence */
                ref: components["parameters"]["ref"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the record */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FullEvent"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listLines: {
        parameters: {
            query?: {
                /** @description stamped at or after */
                from?: components["parameters"]["from"];
                /** @description stamped before */
                to?: components["parameters"]["to"];
                /** @description next_cursor of the page before; everything else as there */
                cursor?: components["parameters"]["cursor"];
                /** @description records of the index in a page */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lines"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getLinesAround: {
        parameters: {
            query?: {
                /** @description lines of its source that carry the allocation, its node instance (else node), or all; the latter two for callers of all tenants */
                of?: "allocation" | "node" | "source";
                /** @description seconds before and after */
                within?: number;
                limit?: number;
            };
            header?: never;
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
                /** @description the ref of an entry or of evidence */
                ref: components["parameters"]["ref"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the lines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LinesAround"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listRecoveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the provisioner's list of actions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryActions"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    recover: {
        parameters: {
            query?: never;
            header?: {
                /** @description the same key asks for the same action once; needed unless it is a dry run */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoveryRequest"];
            };
        };
        responses: {
            /** @description the provisioner's answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    followAllocation: {
        parameters: {
            query?: {
                /** @description the same, for a page that is opened anew; the header counts where both are sent */
                last_event_id?: components["parameters"]["lastEventIDInQuery"];
            };
            header?: {
                /** @description the id of the last event that was received */
                "Last-Event-ID"?: components["parameters"]["lastEventID"];
            };
            path: {
                /** @description an allocation_id */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a stream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    followIncidents: {
        parameters: {
            query?: {
                /** @description the same, for a page that is opened anew; the header counts where both are sent */
                last_event_id?: components["parameters"]["lastEventIDInQuery"];
            };
            header?: {
                /** @description the id of the last event that was received */
                "Last-Event-ID"?: components["parameters"]["lastEventID"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a stream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    lookup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["anyID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description what is known */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lookup"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["anyID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the node */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Node"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getNodeTimeline: {
        parameters: {
            query?: {
                /** @description stamped at or after */
                from?: components["parameters"]["from"];
                /** @description stamped before */
                to?: components["parameters"]["to"];
                /** @description leave out what was ingested later */
                as_of?: components["parameters"]["ingestedAsOf"];
                /** @description next_cursor of the page before; everything else as there */
                cursor?: components["parameters"]["cursor"];
                limit?: components["parameters"]["pageLimit"];
            };
            header?: never;
            path: {
                id: components["parameters"]["anyID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Events"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listOrphans: {
        parameters: {
            query?: {
                /** @description what had been said by then */
                as_of?: components["parameters"]["saidBy"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the orphans */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrphanList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listLayers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the layers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LayerList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listSources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the sources */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    compareProviders: {
        parameters: {
            query?: {
                /** @description stamped at or after */
                from?: components["parameters"]["from"];
                /** @description stamped before */
                to?: components["parameters"]["to"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the comparison */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderComparison"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
}
