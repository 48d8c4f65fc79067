import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { createEntryLog } from '../../src/diagnostics/entry-log.ts'
import { Redactor } from '../../src/diagnostics/redactor.ts'
import { createTransport, resolveCwd } from '../../src/transport/create.ts'
import { HttpTransport } from '../../src/transport/http.ts'
import { StdioTransport } from '../../src/transport/stdio.ts'
import { host } from '../support.ts'

describe('a working directory', () => {
  it('starts at the folder of the composition when it is relative', async () => {
    const { ctx } = await host()
    ctx.baseUrl = pathToFileURL('/srv/harness/cordis.yml').href
    expect(resolveCwd('servers/files', ctx)).toBe('/srv/harness/servers/files')
    expect(resolveCwd('..', ctx)).toBe('/srv')
    expect(resolveCwd('.', ctx)).toBe('/srv/harness')
    ctx.baseUrl = pathToFileURL('/srv/my harness/').href
    expect(resolveCwd('a', ctx)).toBe('/srv/my harness/a')
  })

  it('is itself when it is absolute', async () => {
    const { ctx } = await host()
    ctx.baseUrl = pathToFileURL('/srv/harness/').href
    expect(resolveCwd('/opt', ctx)).toBe('/opt')
  })

  it('is that of the host when none is configured', async () => {
    const { ctx } = await host()
    ctx.baseUrl = pathToFileURL('/srv/harness/').href
    expect(resolveCwd(undefined, ctx)).toBeUndefined()
  })

  it('starts at that of the host when the composition is no file', async () => {
    const { ctx } = await host()
    expect(resolveCwd('a', ctx)).toBe('a')
    ctx.baseUrl = 'https://example.test/cordis.yml'
    expect(resolveCwd('a', ctx)).toBe('a')
  })
})

describe('a transport', () => {
  const make = async (written: object) => {
    const at = await host()
    const config = resolveConfig({ serverName: 'one', ...written })
    const log = createEntryLog(at.ctx, 'one')
    return createTransport(at.ctx, config, new Redactor(config.endpoint), log)
  }

  it('is a process or an HTTP connection, as configured, and is not started', async () => {
    const stdio = await make({ transport: 'stdio', command: process.execPath })
    expect(stdio).toBeInstanceOf(StdioTransport)
    expect(stdio).toMatchObject({ pid: null })
    const http = await make({ transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' })
    expect(http).toBeInstanceOf(HttpTransport)
    await http.close()
  })

  it('of a process starts it in the folder of the composition', async () => {
    const at = await host()
    at.ctx.baseUrl = pathToFileURL(join(import.meta.dirname, 'cordis.yml')).href
    const written = { serverName: 'one', transport: 'stdio', command: './absent', cwd: 'nowhere' }
    const config = resolveConfig(written)
    const log = createEntryLog(at.ctx, 'one')
    const transport = createTransport(at.ctx, config, new Redactor(config.endpoint), log)
    await expect(transport.start()).rejects.toThrow(join(import.meta.dirname, 'nowhere'))
    await transport.close()
  })
})
