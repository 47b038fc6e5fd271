package main

import (
	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/report"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of what --json prints",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(report.SchemaJSON)
			return err
		},
	}
}
