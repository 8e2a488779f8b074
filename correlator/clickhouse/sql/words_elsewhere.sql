-- What a span says of itself; a log record without a body by its name and attributes. Span events are
-- JSON: their field names are words too.
NOT hasAllTokens(lower(body), {words:Array(String)})
  AND if(signal = 'span',
         hasAllTokens(lower(concat(name, ' ', status_message, ' ', replaceRegexpAll(span_events, '\\\\[nrt]', ' '))), {words:Array(String)}),
         body = '' AND hasAllTokens(lower(concat(name, ' ', status_message, ' ', arrayStringConcat(mapValues(attrs), ' '))), {words:Array(String)}))
