/**
 * Names of fields that callers may not set where the gateway does not read them, each in one spelling. reserved-names.ts has the words
 * that reserve every name they occur in. Names with such a word stand here too: by these lists a name in other letters is found at the
 * top of a body before anything else of the body is read.
 */

/** Fields by which a provider would choose another model than the authorized one. */
export const OTHER_MODELS = [
  'models',
  'model_id',
  'model_name',
  'model_uri',
  'route',
  'routes',
  'routing',
  'fallback',
  'fallbacks',
  'fallback_model',
  'fallback_models',
  'model_fallbacks',
  'provider_fallbacks',
  'backup_models',
  'plugins',
  'engine',
  'deployment',
  'deployment_id',
  'inference_profile',
  'inference_profile_arn',
  'model_config',
  'routing_config',
  'model_selection_config',
  'agent_id',
  'assistant_id',
  'adapter',
  'adapter_id',
  'lora',
  'lora_path',
  'lora_request',
  // A stored set of parameters, which may name a model, and a second model that moderates the first one's answer.
  'preset',
  'safety_model',
  // A prompt that a proxy keeps, which may name a model, and another server than the one that was chosen.
  'prompt_id',
  'model_list',
  'api_base',
  'inference_profile_id',
  'endpoint_id',
  'app_id',
  'workflow_id',
  'template_id',
  'prompt_template_id',
  'preset_id',
]

/** Where a server or a proxy sends the request, its cache or its answer, and with what besides. */
export const OTHER_SERVERS = [
  'kv_transfer_params',
  'disaggregated_params',
  'headers',
  'extra_headers',
  'extra_query',
  'host',
  'proxy',
  'cache',
  // Of an account, or of what a proxy keeps for one.
  'organization',
  'project',
  'litellm_credential_name',
  // By which a proxy chooses where the request goes, sends it again, or leaves fields out that bound it.
  'tags',
  'drop_params',
  'additional_drop_params',
  // Code that a server runs.
  'custom_logit_processor',
  'logits_processors',
]

/** Priced apart from tokens, or multiplies their price. The catalogue does not have those prices. */
export const PRICED = [
  'best_of',
  'num_return_sequences',
  'num_generations',
  'num_completions',
  'use_beam_search',
  'beam_width',
  'num_beams',
  'n_best',
  'candidates',
  'variants',
  // Multiply the tokens of an image.
  'mm_processor_kwargs',
  'vl_high_resolution_images',
  'search_settings',
  'search_options',
  'enable_search',
  'search',
  'prediction',
  'audio',
  'compound_custom',
  // Multiply the price of a token, for speed or for a region.
  'speed',
  'inference_geo',
  'performance_config',
  // Search the web, or a store of the account.
  'connectors',
  'data_sources',
  'tool_resources',
  'vector_store_ids',
  // Are charged by the piece of text, or ask a model of their own.
  'guardrail_config',
  'guardrails',
  'model_armor_config',
  'enable_code_interpreter',
]

/** Fields by which a format asks for one tool that the provider runs: in settings and among messages. */
export const HOSTED_FIELDS = [
  'code_execution',
  'code_interpreter',
  'computer_use',
  'enterprise_web_search',
  'file_search',
  'google_maps',
  'google_search',
  'google_search_retrieval',
  'image_generation',
  'mcp_server',
  'mcp_servers',
  'search_parameters',
  'url_context',
  'vertex_ai_search',
  'web_search',
  'web_search_options',
  'web_search_preview',
]
/** Plain names of lists of such tools. */
export const HOSTED_TOOL_FIELD = /^(?:builtin|hosted|native|provider|remote|server|system)tools?$/

/** State at the provider. Every caller of the account can read it by its id. */
export const STORED_STATE = [
  'container',
  'container_id',
  'thread',
  'thread_id',
  'previous_message_id',
  'previous_response_id',
  'conversation',
  'conversation_id',
  'cached_content',
  'session_params',
]

/** What makes state, or is billed apart. */
export const DEFERRED = ['billing_policy', 'deferred']

/** Fields of some format's own requests. */
export const RELIED_ON = [
  'model',
  'messages',
  'contents',
  'input',
  'prompt',
  'prompt_variables',
  'prompt_token_ids',
  'prompt_embeds',
  'input_ids',
  'chat_template',
  'system',
  'system_instruction',
  'instructions',
  'raw',
  'template',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'tool_config',
  'functions',
  'function_call',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_gen_len',
  'max_tokens_to_sample',
  'max_token_count',
  'max_length',
  'max_len',
  'max_decode_tokens',
  'output_token_limit',
  'num_predict',
  'n_predict',
  'n',
  'candidate_count',
  'response_modalities',
  'speech_config',
  'image_config',
  'service_tier',
  'background',
]

/** Objects whose keys are the caller's data, or mean something else inside. */
export const FREE = [
  'metadata',
  'request_metadata',
  'client_metadata',
  'labels',
  'logit_bias',
  'response_format',
  'response_schema',
  'response_json_schema',
  'json_schema',
  'schema',
  'format',
  'guided_json',
  'structured_outputs',
  'output_format',
  'documents',
  'max_price',
  // Names the model of OpenAI's moderation, which is free.
  'moderation',
]
