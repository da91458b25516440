import { z } from 'zod'

// Zod's fast path compiles validators with `new Function`; this house allows no eval. The setting counts when a
// schema is made, so every schema of the control plane takes `z` from here.
z.config({ jitless: true })

export { z }
