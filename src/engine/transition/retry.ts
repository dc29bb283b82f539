// Whether a failure is followed by another attempt, and after how long: the model's `shouldRetry` and `retryDelayMs` in
// SQL, so that fail and the attempt timeout decide in the statement that writes. A test compares the two.

/** True or false; `policy` is jsonb or null, the others are SQL expressions too. */
export function shouldRetrySql(policy: string, retryCount: string, category: string, permanent: string): string {
  return `coalesce(
      not (${permanent})
      and ${category} in ('transient', 'infra_crash', 'timeout')
      and ${retryCount} + 1 < (${policy} #>> '{retry,attempts}')::int
      and coalesce(${policy} #> '{retry,categories}' ? ${category}, true), false)`
}

/** Milliseconds. The exponent stops where the maximum is reached, before the power is too large for a number. */
export function retryDelaySql(policy: string, retryCount: string): string {
  const backoff = (field: string) => `(${policy} #>> '{retry,backoff,${field}}')::float8`
  return `floor((1 - ${backoff('jitter')} * random()) * case
      when ${policy} #>> '{retry,backoff,type}' = 'fixed' then ${backoff('delayMs')}
      when ${backoff('initialMs')} = 0 then 0
      when ${backoff('multiplier')} = 1 then ${backoff('initialMs')}
      else least(${backoff('maxMs')}, ${backoff('initialMs')} * power(${backoff('multiplier')}, least(${retryCount},
        ceil(ln(${backoff('maxMs')} / ${backoff('initialMs')}) / ln(${backoff('multiplier')})))))
    end)::int8`
}
