package capture

// NewBlock returns an empty Block for a Source of another package. release is
// called each time that the Block is given back; nil does nothing.
func NewBlock(release func(*Block)) *Block { return &Block{release: release} }
