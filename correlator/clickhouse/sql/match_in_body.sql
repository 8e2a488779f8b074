hasAllTokens(lower(body), {words:Array(String)})
{{- range $i := .Words}}
  AND indexHint(hasToken(lower(body), {word{{$i}}:String}))
{{- end}}
