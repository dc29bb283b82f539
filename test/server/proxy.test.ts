import { expect, test } from 'vitest'
import { proxyShownBy, TrustedProxies } from '../../src/server/proxy.ts'
import { refusal } from '../support/refusal.ts'

const from = (forwardedFor?: string): Headers =>
  new Headers(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor })

test('without trusted proxies the client is the other end of the connection, whatever it claims', () => {
  const proxies = new TrustedProxies()
  expect(proxies.clientOf('127.0.0.1', from('203.0.113.9'))).toBe('127.0.0.1')
})

test('behind trusted proxies the client is the last address that is not one of them', () => {
  const proxies = new TrustedProxies(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
  expect(proxies.clientOf('127.0.0.1', from('203.0.113.9'))).toBe('203.0.113.9')
  expect(proxies.clientOf('::ffff:127.0.0.1', from('203.0.113.9'))).toBe('203.0.113.9')
  expect(proxies.clientOf('127.0.0.1', from('198.51.100.1, 203.0.113.9, 10.1.2.3'))).toBe('203.0.113.9')
  expect(proxies.clientOf('fd00::1', from('2001:db8::7'))).toBe('2001:db8::7')
  expect(proxies.clientOf('127.0.0.1', from('[2001:db8::7]:4711, 10.1.2.3:80'))).toBe('2001:db8::7')
  expect(proxies.clientOf('127.0.0.1', from())).toBe('127.0.0.1')
  expect(proxies.clientOf('127.0.0.1', from('10.0.0.7, 10.0.0.8'))).toBe('10.0.0.7')
})

test('claims of an address that is not trusted are ignored, and a value that is no address is not passed on', () => {
  const proxies = new TrustedProxies(['127.0.0.1'])
  expect(proxies.clientOf('192.0.2.1', from('203.0.113.9'))).toBe('192.0.2.1')
  expect(proxies.clientOf('unknown', from('203.0.113.9'))).toBe('unknown')
  expect(proxies.clientOf('127.0.0.1', from('203.0.113.9, nonsense'))).toBe('127.0.0.1')
})

test.each(['', 'localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/x', 'fd00::/129', '1.2.3'])(
  'the network %j is refused',
  async (network) => {
    await refusal('invalid_input', (async () => new TrustedProxies([network]))())
  },
)

test.each([
  ['forwarded', 'for=192.0.2.60'],
  ['via', '1.1 vegur'],
  ['x-forwarded-for', '203.0.113.9'],
  ['x-forwarded-proto', 'https'],
  ['x-forwarded-host', 'a.example'],
  ['x-real-ip', '203.0.113.9'],
])('the header %s reveals a proxy', (name, value) => {
  expect(proxyShownBy(new Headers({ accept: '*/*', [name]: value }), '1.1')).toBe(name)
})

test('HTTP/1.0 reveals a proxy, and a plain request of a client does not', () => {
  expect(proxyShownBy(new Headers({ host: 'localhost' }), '1.0')).toBe('HTTP/1.0')
  expect(proxyShownBy(new Headers({ host: 'localhost' }), '1.1')).toBeNull()
})
