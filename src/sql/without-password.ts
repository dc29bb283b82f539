const scheme = /^\s*[a-z][\w+.-]*:\/\//i
// Without slashes, any text before a colon may be a user, and the text after it a password.
const afterUser = /^(\s*(?:postgres(?:ql)?:)?[^:]*):.*@/is

/**
 * For messages: the URL without the password. If the URL is malformed, it hides too much rather than too little:
 * everything between the first colon and the last @, and everything after `password=`, up to an &.
 */
export function withoutPassword(url: string): string {
  const [begin = ''] = scheme.exec(url) ?? []
  const rest = url.slice(begin.length).replace(afterUser, '$1:***@')
  return (begin + rest).replace(/(password=)[^&]*/gi, '$1***')
}
