package decode

func (r *run) parallel() (Stats, error) { return r.single() }
