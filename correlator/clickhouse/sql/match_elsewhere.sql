-- What a span says of itself; a log record without a body by its name and attributes. Span events are
-- JSON: their field names are words too. said holds more than is looked for, and has an index.
empty(body)
{{- range $i := .Words}}
  AND hasToken(said, {word{{$i}}:String})
{{- end}}
  AND if(signal = 'span',
         hasAllTokens(lower(concat(name, ' ', status_message, ' ', replaceRegexpAll(span_events, '\\\\(u[0-9a-fA-F]{4}|.)', ' '))), {words:Array(String)}),
         hasAllTokens(lower(concat(name, ' ', status_message, ' ', arrayStringConcat(mapValues(attrs_rest), ' '), ' ',
                                   arrayStringConcat(arrayMap(n -> substring(arrayFirst(k -> startsWith(k, concat(replaceRegexpOne(n, '_u?id$', ''), ':')), keys), length(replaceRegexpOne(n, '_u?id$', '')) + 2), splitByChar(',', attrs_hoisted)), ' '))), {words:Array(String)}))
