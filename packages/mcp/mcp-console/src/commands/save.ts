/** Writes the binary blocks of a call's result to files. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { JsonValue } from '@deepseek-ai/dsh-tools'
import mime from 'mime'
import { CommandError } from '../exit.ts'
import { fileReason } from '../file-error.ts'

/** Longest part of a file name that is taken from a URI, in characters. */
const MAX_STEM_LENGTH = 60

/** One binary block. */
interface Binary {
  readonly data: string
  readonly mimeType: string | undefined
  /** What the block is called, when it has an address. */
  readonly uri: string | undefined
}

/** A file that was written. */
export interface SavedFile {
  readonly path: string
  readonly bytes: number
}

type Fields = Record<string, JsonValue | undefined>

/** The images, sounds and binary resources in the canonical value of an MCP call, in order. */
function binariesOf(value: JsonValue | undefined): Binary[] {
  const content = (value as Fields | null | undefined)?.['content']
  if (!Array.isArray(content)) return []
  return content.flatMap((item) => {
    const block = item as Fields
    const source = (block['type'] === 'resource' ? block['resource'] : block) as Fields
    const data = block['type'] === 'resource' ? source['blob'] : source['data']
    if (typeof data !== 'string') return []
    return { data, mimeType: stringOf(source['mimeType']), uri: stringOf(source['uri']) }
  })
}

function stringOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A file name that says what the block is, of characters that every file system takes. */
function fileName({ uri, mimeType }: Binary, index: number): string {
  const type = mimeType?.replace(/^image\/jpg\b/i, 'image/jpeg')
  const extension = (type === undefined ? null : mime.getExtension(type)) ?? 'bin'
  const last = uri?.split(/[/\\?#]/).findLast((part) => part !== '') ?? ''
  const stem = last
    .replace(/\.[A-Za-z0-9]{1,5}$/, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_STEM_LENGTH)
  return `${String(index + 1).padStart(2, '0')}${stem === '' ? '' : `-${stem}`}.${extension}`
}

/**
 * Make the folder, before a call whose result it is for.
 *
 * @throws {CommandError} when it cannot be made.
 */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => Promise.reject(saveError(folder, error)))
}

/**
 * Save every binary block; an existing file is never overwritten, the new one gets a number instead.
 *
 * @param value - the canonical value of the call.
 * @param folder - see {@link prepareFolder}.
 * @throws {CommandError} when a file cannot be written.
 */
export async function saveBinaries(value: JsonValue | undefined, folder: string): Promise<SavedFile[]> {
  const saved: SavedFile[] = []
  try {
    for (const [index, binary] of binariesOf(value).entries()) {
      const data = Buffer.from(binary.data, 'base64')
      saved.push({ path: await writeNew(folder, fileName(binary, index), data), bytes: data.length })
    }
  } catch (error) {
    throw saveError(folder, error)
  }
  return saved
}

function saveError(folder: string, error: unknown): CommandError {
  return new CommandError('unusable', `cannot save to ${visibleLine(folder)}: ${fileReason(error)}`)
}

async function writeNew(folder: string, name: string, data: Buffer): Promise<string> {
  const [stem, extension] = name.split(/(?=\.[^.]+$)/)
  for (let count = 1; ; count++) {
    const path = join(folder, count === 1 ? name : `${stem} (${count})${extension}`)
    try {
      await writeFile(path, data, { flag: 'wx' })
      return path
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
