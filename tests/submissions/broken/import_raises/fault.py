DAMPING = P["damping"]["T_E"]
