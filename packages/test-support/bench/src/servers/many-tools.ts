/** 5,000 tools as servers have them, over stdio, 2025-11-25. One of them changes at each SIGUSR2. */

import { Toolbox, type FixtureTool, type JsonObject } from '@dsh-mcp/fixtures'
import { createLegacyServer } from '@dsh-mcp/fixtures/legacy-server.ts'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CHANGING_TOOL, TOOL_COUNT } from '../servers.ts'

function numbered(index: number): FixtureTool {
  const output: JsonObject = {
    type: 'object',
    properties: { id: { type: 'string' }, url: { type: 'string' }, score: { type: 'number' } },
    required: ['id'],
  }
  return {
    name: `search_collection_${index}`,
    description: `Searches collection ${index} for documents that match a query and returns the best ones first.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to look for, in words' },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many documents to return' },
        order: { type: 'string', enum: ['relevance', 'newest', 'oldest'] },
        filters: {
          type: 'object',
          properties: {
            author: { type: 'string' },
            tags: { type: 'array', items: { type: 'string' } },
            after: { type: 'string', format: 'date', description: 'Only documents after this day' },
          },
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
    ...(index % 4 === 0 && { outputSchema: output }),
  }
}

function changing(version: number): FixtureTool {
  return { ...numbered(TOOL_COUNT), name: CHANGING_TOOL, description: `Version ${version}` }
}

const pid: FixtureTool = { name: 'pid', description: 'The process', inputSchema: { type: 'object' } }
const toolbox = new Toolbox({
  tools: [pid, ...Array.from({ length: TOOL_COUNT - 2 }, (_, index) => numbered(index)), changing(0)],
})
let version = 0
process.on('SIGUSR2', () => toolbox.setTools({ add: [changing(++version)] }))
process.stdin.on('end', () => process.exit(0))
await createLegacyServer(toolbox).connect(new StdioServerTransport())
