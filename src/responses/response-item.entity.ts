import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Which response holds an item of input or output; the item itself stands there. */
@Entity('response_items')
@Index('response_items_of_response', ['responseId'])
export class ResponseItemEntity {
  @PrimaryColumn({ type: 'text', name: 'item_id' })
  itemId: string;

  @Column({ type: 'text', name: 'response_id' })
  @ForeignKey('ResponseEntity', 'id', { name: 'response_items_response', onDelete: 'CASCADE' })
  responseId: string;
}
