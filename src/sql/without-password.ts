const scheme = /^\s*[a-z][\w+.-]*:\/\//i
// Without slashes any word before a colon may as well be a user, and what follows its password.
const afterUser = /^(\s*(?:postgres(?:ql)?:)?[^:]*):.*@/is

/**
 * For messages: everything but the password; rather too little than too much of it when the URL is malformed. Hidden is
 * what stands between the first colon and the last @, and everything that follows `password=`, up to an &.
 */
export function withoutPassword(url: string): string {
  const [begin = ''] = scheme.exec(url) ?? []
  const rest = url.slice(begin.length).replace(afterUser, '$1:***@')
  return (begin + rest).replace(/(password=)[^&]*/gi, '$1***')
}
