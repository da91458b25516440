import { z } from 'zod'

// Zod's fast path compiles validators with `new Function`, which this code base does not allow. The setting applies to
// schemas created after it, so every schema of the control plane imports `z` from here.
z.config({ jitless: true })

export { z }
