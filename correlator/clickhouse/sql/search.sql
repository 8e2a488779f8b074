-- What a search looks for, the newest first; what it does not ask for is no condition. minute is what the primary key goes by.
-- An attribute's name is a parameter of its own, a constant: the store looks into each resource once then, not into each row's.
SELECT toString(key), {{template "record_columns"}}
FROM events
WHERE ingested_time <= fromUnixTimestamp64Nano({mark:Int64}, 'UTC')
  AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
  AND minute >= intDiv({from:Int64}, 60000000000) AND minute <= intDiv({last:Int64}, 60000000000)
  AND severity >= {severity:Int32}
  AND (empty({services:Array(String)}) OR service IN {services:Array(String)})
{{- range $i, $at := .Identifiers}}
  AND {{if .Own}}{{.Attribute}}{{else}}arrayFirst(k -> startsWith(k, '{{.}}:'), keys_rest){{end}} = {identifier{{$i}}:String}
{{- end}}
{{- range $i := .Attributes}}
  AND (attrs_rest[{name{{$i}}:String}] = {value{{$i}}:String} OR JSONExtractString(resource_json, {name{{$i}}:String}) = {value{{$i}}:String})
{{- end}}
  AND {{condition .}}
  AND (time, service, key) < (fromUnixTimestamp64Nano({after:Int64}, 'UTC'), {after_source:String}, {after_key:String})
ORDER BY time DESC, service DESC, key DESC
LIMIT {most:UInt32}
