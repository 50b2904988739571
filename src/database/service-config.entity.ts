import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One fact about this store that outlives the process: its id and incarnation, when it was last alive. */
@Entity('service_config')
export class ServiceConfigEntity {
  @PrimaryColumn({ type: 'text', name: 'key' })
  key: string;

  @Column({ type: 'text', name: 'value' })
  value: string;

  /** Epoch milliseconds. */
  @Column({ type: 'integer', name: 'updated_at' })
  updatedAt: number;
}
