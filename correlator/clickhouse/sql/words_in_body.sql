hasAllTokens(lower(body), {words:Array(String)})
  AND indexHint(hasToken(lower(body), {word:String})) -- each
