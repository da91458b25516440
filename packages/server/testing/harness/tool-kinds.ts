const FUNCTION = { name: 'usual_tool', parameters: { type: 'object', properties: { a: { type: 'string' } } } }

/** What asks for a tool in one format. */
export interface ToolKind {
  readonly fields: Record<string, unknown>
  /** The path at which the caller wrote it. */
  readonly path: string
  /** The part of it that a provider receives. Absent: it is never sent to any provider. */
  readonly mark?: string
  /** True if the tool only steers sampling, or a provider would run it: the header leaves it out, whatever the setting. */
  readonly isLeftOut?: true
}

export interface ToolFormat {
  /** `{model}` is replaced in formats that name the model in the path. */
  readonly route: string
  readonly body: Record<string, unknown>
  readonly usual: unknown
  readonly kinds: Readonly<Record<string, ToolKind>>
}

const MESSAGES = [{ role: 'user', content: 'hi' }]

const chatTool = (tool: unknown): ToolKind => ({ fields: { tools: [tool] }, path: 'tools[0]' })
const CHAT_KINDS: Readonly<Record<string, ToolKind>> = {
  'a tool of free text': chatTool({ type: 'custom', custom: { name: 'free_tool' } }),
  'a hosted search': { ...chatTool({ type: 'web_search' }), isLeftOut: true },
  'a builtin function': {
    ...chatTool({ type: 'builtin_function', function: { name: '$web_search' } }),
    isLeftOut: true,
  },
  'search as a field': { fields: { web_search_options: {} }, path: 'web_search_options' },
  'servers of tools': { fields: { mcp_servers: [{ url: 'https://a.example' }] }, path: 'mcp_servers' },
}
const COMPAT_KINDS: Readonly<Record<string, ToolKind>> = {
  ...CHAT_KINDS,
  'search as a field': { fields: { web_search_options: {} }, path: 'web_search_options', isLeftOut: true },
  'a choice among some': {
    fields: {
      tools: [
        { type: 'function', function: FUNCTION },
        { type: 'function', function: { ...FUNCTION, name: 'other_tool' } },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'required',
          tools: [{ type: 'function', function: { name: 'other_tool' } }],
        },
      },
    },
    path: 'tool_choice',
    mark: 'other_tool',
  },
  'an unknown choice': {
    fields: { tools: [{ type: 'function', function: FUNCTION }], tool_choice: { type: 'novel_choice' } },
    path: 'tool_choice',
    mark: 'novel_choice',
  },
  'functions of old': { fields: { functions: [FUNCTION] }, path: 'functions', mark: 'usual_tool' },
}

const anthropicTool = (tool: Record<string, unknown>): ToolKind => ({
  fields: { tools: [tool] },
  path: 'tools[0]',
  mark: String(tool.type),
})
/** Other providers get it as a function of its name. */
const clientRunTool = (tool: { type: string; name: string }): ToolKind => ({
  ...anthropicTool(tool),
  mark: `"${tool.name}"`,
})
const used = (type: string): ToolKind => ({
  fields: {
    messages: [
      ...MESSAGES,
      {
        role: 'assistant',
        content: [
          { type, id: 'srvtoolu_1', name: 'x', input: {} },
          { type: 'text', text: 'y' },
        ],
      },
      { role: 'user', content: 'go on' },
    ],
  },
  path: 'messages[1].content[0]',
  mark: type,
})
const responsesTool = (tool: Record<string, unknown>): ToolKind => ({
  fields: { tools: [tool] },
  path: 'tools[0]',
  mark: String(tool.name ?? tool.type),
})

const GEMINI_FUNCTION = { name: FUNCTION.name, parametersJsonSchema: FUNCTION.parameters }
const geminiTool = (name: string): ToolKind => ({
  fields: { tools: [{ [name]: {} }] },
  path: `tools[0].${name}`,
})
const left = (kind: ToolKind, mark?: string): ToolKind =>
  mark === undefined ? { ...kind, isLeftOut: true } : { ...kind, isLeftOut: true, mark }
const runAtOpenAi = (type: string, fields: object = {}): ToolKind =>
  left({ fields: { tools: [{ type, ...fields }] }, path: 'tools[0]' })

/** Each caller's format, with a request and every kind of tool in it. */
export const TOOL_FORMATS: Readonly<Record<string, ToolFormat>> = {
  'gemini-content': {
    route: '/gemini/v1beta/models/{model}:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    usual: { functionDeclarations: [GEMINI_FUNCTION] },
    kinds: {
      ...Object.fromEntries(['fileSearch', 'computerUse', 'novelTool'].map(name => [name, geminiTool(name)])),
      ...Object.fromEntries(
        ['googleSearch', 'codeExecution', 'urlContext'].map(name => [name, left(geminiTool(name), name)]),
      ),
      googleMaps: left(geminiTool('googleMaps')),
      'a place for a search': {
        fields: { toolConfig: { retrievalConfig: { languageCode: 'zz_code' } } },
        path: 'toolConfig',
        mark: 'zz_code',
      },
    },
  },
  'cohere-v2': {
    route: '/cohere/v2/chat',
    body: { messages: MESSAGES, stream: false },
    usual: { type: 'function', function: FUNCTION },
    kinds: {
      'a hosted search': { ...chatTool({ type: 'web_search' }), isLeftOut: true },
      'documents to search': {
        fields: { documents: [{ data: { text: 'zz_document' } }] },
        path: 'documents',
        mark: 'zz_document',
      },
    },
  },
  'ollama-chat': {
    route: '/ollama/api/chat',
    body: { messages: MESSAGES, stream: false },
    usual: { type: 'function', function: FUNCTION },
    kinds: { 'a hosted search': chatTool({ type: 'web_search' }) },
  },
  'bedrock-converse': {
    route: '/bedrock/model/{model}/converse',
    body: { messages: [{ role: 'user', content: [{ text: 'hi' }] }] },
    usual: undefined,
    kinds: {
      'a tool of its own': {
        fields: { toolConfig: { tools: [{ systemTool: { name: 'nova_grounding' } }] } },
        path: 'toolConfig.tools[0]',
      },
    },
  },
  native: {
    route: '/v1/chat',
    body: { messages: MESSAGES },
    usual: { type: 'function', function: FUNCTION },
    kinds: {
      ...CHAT_KINDS,
      'a choice among some': {
        fields: { tool_choice: { type: 'allowed_tools' } },
        path: 'tool_choice',
      },
    },
  },
  'openai-chat': {
    route: '/openai/v1/chat/completions',
    body: { messages: MESSAGES },
    usual: { type: 'function', function: FUNCTION },
    kinds: COMPAT_KINDS,
  },
  'anthropic-messages': {
    route: '/anthropic/v1/messages',
    body: { messages: MESSAGES, max_tokens: 100 },
    usual: { name: 'usual_tool', input_schema: FUNCTION.parameters },
    kinds: {
      'web search': left(
        anthropicTool({ type: 'web_search_20250305', name: 'web_search' }),
        'web_search_2025',
      ),
      'web fetch': left(anthropicTool({ type: 'web_fetch_20250910', name: 'web_fetch' }), 'web_fetch_2025'),
      'code execution': {
        fields: { tools: [{ type: 'code_execution_20260120', name: 'code_execution' }] },
        path: 'tools[0]',
        isLeftOut: true,
      },
      bash: clientRunTool({ type: 'bash_20250124', name: 'bash' }),
      'text editor': clientRunTool({ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }),
      computer: anthropicTool({
        type: 'computer_20251124',
        name: 'computer',
        display_width_px: 1,
        display_height_px: 1,
      }),
      memory: clientRunTool({ type: 'memory_20250818', name: 'memory' }),
      'tool search': left(
        anthropicTool({ type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }),
        'tool_search_tool_bm25_2025',
      ),
      advisor: {
        fields: { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5' }] },
        path: 'tools[0]',
        isLeftOut: true,
      },
      'a set of MCP tools': anthropicTool({ type: 'mcp_toolset', mcp_server_name: 'a' }),
      'MCP servers': {
        fields: { mcp_servers: [{ type: 'url', url: 'https://a.example' }] },
        path: 'mcp_servers',
      },
      'a choice of such a tool': {
        fields: {
          tools: [
            { type: 'computer_20251124', name: 'computer' },
            { name: 'usual_tool', input_schema: FUNCTION.parameters },
          ],
          tool_choice: { type: 'tool', name: 'computer' },
        },
        path: 'tools[0]',
        mark: 'computer_20251124',
      },
      'what a server tool left': used('server_tool_use'),
      'what an MCP tool left': used('mcp_tool_use'),
      'an uploaded file': {
        fields: {
          messages: [
            { role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }] },
          ],
        },
        path: 'messages[0].content[0]',
        mark: 'file_1',
      },
      'a field of later': {
        fields: { novelty: { of: 'later_field' } },
        path: 'novelty',
        mark: 'later_field',
      },
      top_k: { fields: { top_k: 4321 }, path: 'top_k', mark: '4321', isLeftOut: true },
    },
  },
  'openai-responses': {
    route: '/openai/v1/responses',
    body: { input: MESSAGES },
    usual: { type: 'function', ...FUNCTION },
    kinds: {
      'a tool of free text': responsesTool({ type: 'custom', name: 'free_tool' }),
      'a shell here': responsesTool({ type: 'local_shell' }),
      'a patch': responsesTool({ type: 'apply_patch' }),
      'tool search': left(responsesTool({ type: 'tool_search' }), 'tool_search'),
      'a shell there': runAtOpenAi('shell', { environment: { type: 'container_auto' } }),
      computer: responsesTool({ type: 'computer_use_preview', display_width: 1, display_height: 1 }),
      ...Object.fromEntries(
        ['file_search', 'mcp', 'novel_tool'].map(type => [
          type,
          { fields: { tools: [{ type }] }, path: 'tools[0]' },
        ]),
      ),
      web_search: left(responsesTool({ type: 'web_search' }), 'web_search'),
      code_interpreter: left(responsesTool({ type: 'code_interpreter' }), 'code_interpreter'),
      image_generation: runAtOpenAi('image_generation'),
      'tools in namespaces': {
        fields: { tools: [{ type: 'namespace', name: 'zz', tools: [{ type: 'function', name: 'inner' }] }] },
        path: 'tools[0]',
        mark: 'inner',
      },
      'tools that an item brings': {
        fields: {
          input: [
            { type: 'additional_tools', tools: [{ type: 'function', name: 'inner' }] },
            { role: 'user', content: 'hi' },
          ],
        },
        path: 'input[0]',
        mark: 'inner',
      },
      'a choice among some': {
        fields: { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } },
        path: 'tool_choice',
        mark: 'allowed_tools',
      },
    },
  },
}
