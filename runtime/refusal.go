package runtime

import "dwserver/runtime/rules"

// Refusal is a typed answer "no" of the contract: nothing of the request was recorded, unless
// Command says that the refused command itself was. Reason is the contract's stable word;
// handlers turn it into a status. Every error of this package that is not a *Refusal is a fault.
type Refusal = rules.Refusal

func refuse(reason, message string) *Refusal { return rules.Refuse(reason, message) }
