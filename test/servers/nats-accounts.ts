import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'

type Keys = ReturnType<typeof nkeys.createUser>

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes as string).toString('base64url')

/** A claim of NATS about `subject`, signed by `issuer`, as nsc writes it. */
function token(issuer: Keys, subject: Keys, name: string, nats: Record<string, unknown>, expires?: number): string {
  const body = { jti: name, iat: Math.floor(Date.now() / 1000), iss: issuer.getPublicKey(), sub: subject.getPublicKey(), name, ...(expires === undefined ? {} : { exp: expires }), nats: { version: 2, ...nats } }
  const signed = `${base64url(JSON.stringify({ typ: 'JWT', alg: 'ed25519-nkey' }))}.${base64url(JSON.stringify(body))}`
  return `${signed}.${base64url(issuer.sign(new TextEncoder().encode(signed)))}`
}

const UNLIMITED = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }

/**
 * A NATS server as a company runs it: an operator, an account with JetStream, TLS with a certificate of its own authority, and users
 * with credentials files. Nobody's password or key is in the configuration.
 */
export class Accounts {
  readonly folder = mkdtempSync(join(tmpdir(), 'opscope-accounts-'))
  readonly authority = join(this.folder, 'cert.pem')
  readonly #operator = nkeys.createOperator()
  readonly #account = nkeys.createAccount()

  constructor() {
    const { status } = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', join(this.folder, 'key.pem'), '-out', this.authority, '-days', '1', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'])
    if (status !== 0) throw new Error('openssl makes no certificate')
  }

  /** What nats.conf says of them. */
  get config(): string {
    const system = nkeys.createAccount()
    const account = (keys: Keys, name: string, limits: Record<string, unknown>) => `${keys.getPublicKey()}: ${token(this.#operator, keys, name, { type: 'account', limits, default_permissions: { pub: {}, sub: {} } })}`
    const { mem_storage: _memory, disk_storage: _disk, streams: _streams, consumer: _consumer, ...plain } = UNLIMITED
    return `tls { cert_file: ${this.authority}, key_file: ${join(this.folder, 'key.pem')} }
operator: ${token(this.#operator, this.#operator, 'operator', { type: 'operator' })}
system_account: ${system.getPublicKey()}
resolver: MEMORY
resolver_preload: {
  ${account(system, 'SYS', plain)}
  ${account(this.#account, 'bench', UNLIMITED)}
}`
  }

  /** A credentials file of a user. `stranger`: of an account that the server does not have; `expired`: no longer good. */
  user(name: string, { stranger = false, expired = false } = {}): string {
    const user = nkeys.createUser()
    const jwt = token(stranger ? nkeys.createAccount() : this.#account, user, name, { type: 'user', subs: -1, data: -1, payload: -1, pub: {}, sub: {} }, expired ? Math.floor(Date.now() / 1000) - 60 : undefined)
    const file = join(this.folder, `${name}.creds`)
    writeFileSync(file, `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${new TextDecoder().decode(user.getSeed())}\n------END USER NKEY SEED------\n`, { mode: 0o600 })
    return file
  }
}
