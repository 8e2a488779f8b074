toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       {{range idColumns}}{{.}}, {{end}}keys_rest, form_json, resource_json, attrs_rest, extra_json
