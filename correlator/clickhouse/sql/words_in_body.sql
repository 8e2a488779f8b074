hasAllTokens(lower(body), {words:Array(String)})
